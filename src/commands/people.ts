// tranche people: who uses the console. A link is shown once; the person who follows it chooses the password.

import { invitationUrl, newInvitation, newPersonId } from '../app/people.ts'
import type { App } from '../app.ts'
import type { ApprovalPolicy } from '../domain/approval.ts'
import { Fault } from '../domain/fault.ts'
import { GRANTS, type GrantName, parseGrant, parsePersonName } from '../domain/person.ts'
import { didYouMean } from '../domain/similar.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { Confirmed } from '../ports/ledger/people.ts'
import { FOUR_EYES_BEGUN } from '../present/approval-policy.ts'
import { EXIT } from '../present/exit-codes.ts'
import { personLines, secondPersonText, toJsonPerson } from '../present/people.ts'
import { onLedger, openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

const LOOPBACK = 'http://127.0.0.1:7800'

export async function addPerson(
  app: App,
  text: string,
  { roles }: { roles: string },
  terminal: Terminal,
): Promise<number> {
  const name = parsePersonName(text)
  if (name === null)
    throw new Fault('usage', 'Name the person by 1 to 64 letters, digits, dots, dashes and @. No person was added.')
  const person = { id: newPersonId(), name, grants: parseRoles(roles) }
  return onLedger(app, async (ledger) => {
    const nowMs = app.clock.nowMs()
    const { secret, invitation } = newInvitation(nowMs)
    const policyBefore = await ledger.approvalPolicy()
    if ((await ledger.addPerson(person, invitation, app.actor, nowMs)) === 'taken')
      throw new Fault('usage', `The name ${name} is taken, or was once. No person was added. Choose another name.`)
    showLink(app, name, secret, terminal)
    await sayFourEyes(ledger, policyBefore, terminal)
    await saySecond(ledger, name, terminal)
  })
}

export function confirmPerson(app: App, name: string, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    const confirmed = await ledger.confirmPerson(name, app.actor, app.clock.nowMs())
    if (confirmed.kind !== 'confirmed') throw unconfirmed(name, confirmed)
    terminal.object({ name, confirmed: true })
    terminal.say(
      `You confirmed ${name} as the owner of this machine, as no other person could; the act says so. Their roles hold from now on, and open sessions have ended.`,
    )
  })
}

function unconfirmed(name: string, confirmed: Confirmed): Fault {
  assertThere(name, confirmed.kind)
  if (confirmed.kind === 'others')
    return new Fault(
      'usage',
      `${confirmed.names.join(', ')} can confirm ${name} in the console, so the owner of this machine does not. Nothing was changed.`,
    )
  return new Fault('usage', `There is nothing to confirm of ${name}. Nothing was changed.`)
}

async function saySecond(ledger: Ledger, name: string, terminal: Terminal): Promise<void> {
  const found = await ledger.personNamed(name)
  const second = found === null || (await ledger.approvalPolicy()) === null ? null : secondPersonText(found.person)
  if (second !== null) terminal.say(`${second} tranche people confirm ${name}`)
}

export function linkPerson(app: App, name: string, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    const nowMs = app.clock.nowMs()
    const { secret, invitation } = newInvitation(nowMs)
    assertThere(name, await ledger.invite(name, invitation, app.actor, nowMs))
    showLink(app, name, secret, terminal)
    await saySecond(ledger, name, terminal)
  })
}

/** What began by it must not be left to be found out by a batch that waits. */
async function sayFourEyes(ledger: Ledger, before: ApprovalPolicy | null, terminal: Terminal): Promise<void> {
  if (before === null && (await ledger.approvalPolicy()) !== null) terminal.say(FOUR_EYES_BEGUN)
}

function showLink({ config: { serving } }: App, name: string, secret: string, terminal: Terminal): void {
  const url = invitationUrl(serving.publicUrl ?? LOOPBACK, secret)
  terminal.object({ name, url })
  terminal.data(url)
  terminal.say(
    `Give this link to ${name} alone: it works once, within 24 hours, to choose a password. It is not shown again.`,
  )
}

export function setRoles(
  app: App,
  name: string,
  { roles, reason }: { roles: string; reason: string },
  terminal: Terminal,
): Promise<number> {
  assertReason(reason)
  const grants = parseRoles(roles)
  return onLedger(app, async (ledger) => {
    const policyBefore = await ledger.approvalPolicy()
    assertThere(name, await ledger.setGrants(name, grants, reason, app.actor, app.clock.nowMs()))
    terminal.object({ name, roles: grants })
    terminal.say(`${name} has now: ${grants.join(', ')}. Open sessions of ${name} have ended.`)
    await sayFourEyes(ledger, policyBefore, terminal)
    await saySecond(ledger, name, terminal)
  })
}

export function revokePerson(
  app: App,
  name: string,
  { reason }: { reason: string },
  terminal: Terminal,
): Promise<number> {
  assertReason(reason)
  return onLedger(app, async (ledger) => {
    const how = await ledger.revokePerson(name, reason, app.actor, app.clock.nowMs())
    if (how === 'unknown') assertThere(name, how)
    terminal.object({ name, revoked: true, already: how === 'already' })
    terminal.say(
      how === 'already'
        ? `${name} was revoked already; nothing was changed.`
        : `${name} can no longer sign in, and all sessions have ended. What ${name} submitted or approved stands.`,
    )
  })
}

export async function listPeople(app: App, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const people = await ledger.people()
    terminal.object({ people: people.map(toJsonPerson) })
    terminal.data(...personLines(people))
    if (people.length === 0)
      terminal.say('There are no people yet. tranche serve shows a link for the first administrator.')
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

function assertThere(name: string, how: string): void {
  if (how === 'unknown')
    throw new Fault('usage', `There is no person called "${name}". See: tranche people list. Nothing was changed.`)
  if (how === 'provided')
    throw new Fault(
      'usage',
      `${name} signs in with the identity provider: roles come from groups there, and there is no password here. Nothing was changed. Change the groups there; to block ${name} now: tranche people revoke ${name} --reason TEXT`,
    )
  if (how === 'revoked') throw new Fault('usage', `${name} was revoked. Nothing was changed. Add another person.`)
}

function assertReason(reason: string): void {
  if (reason.trim() === '')
    throw new Fault('usage', '--reason: write why; it is kept in the history. Nothing was changed.')
}

function parseRoles(text: string): readonly GrantName[] {
  const names = text.split(',').map((one) => one.trim())
  return names.map((one) => {
    const name = parseGrant(one)
    if (name !== undefined) return name
    throw new Fault(
      'usage',
      `--roles ${one}: there is no such role${didYouMean(one, GRANTS)}. One or more of: ${GRANTS.join(', ')}. Nothing was changed.`,
    )
  })
}
