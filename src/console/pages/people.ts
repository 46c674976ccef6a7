// Who uses the console: made, given roles, and taken away again. Whoever does that moves no money.

import type { FastifyRequest } from 'fastify'
import { invitationUrl, newInvitation, newPersonId } from '../../app/people.ts'
import { identityOf } from '../../domain/actor.ts'
import { GRANTS, type GrantName, type Person, parseGrant, parsePersonName } from '../../domain/person.ts'
import { confirmersOf, mayConfirm } from '../../domain/second-person.ts'
import { commandText } from '../../present/command-line.ts'
import { type Html, html } from '../../present/html.ts'
import { personState, secondPersonText } from '../../present/people.ts'
import { redirectDone } from '../done.ts'
import { policyText } from '../done-words.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { type Fields, fieldsOf, reasonIn } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { actElsewhereOnce } from '../once.ts'
import { form, freshly, idText, moment, NOTHING, note, reasonField, table } from '../parts.ts'
import { typedIn } from '../refused.ts'
import { visitorOf } from '../visit.ts'

type OfPerson = { readonly Params: { readonly person: string } }

const MEANINGS: Readonly<Record<GrantName, string>> = {
  viewer: 'sees batches and searches',
  submitter: 'hands files in',
  approver: 'approves or rejects what others handed in',
  operator: 'pauses, resumes, cancels, sets rates, resolves doubts',
  admin: 'adds people, keys and webhooks; cannot be combined with a role that moves money',
  auditor: 'reads the audit',
  results: 'downloads result files, which hold names',
}

export function addPeople(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/people', { config: { page: 'people' } }, async (request, reply) => {
    const main = html`${await approvalsText()}${peopleOf(await ledger.people())}<h2>Add a person</h2>${freshly(request, '/people', () => addForm(request, door))}`
    return showScreen(door, request, reply, { title: 'People', section: 'People', main })
  })
  pages.get<OfPerson>('/people/:person', { config: { page: 'person' } }, async (request, reply) => {
    const person = await personOf(request.params.person)
    const main = html`${onePerson(request, door, person)}${secondOf(request, door, person, await ledger.people())}`
    return showScreen(door, request, reply, { title: person.name, section: 'People', main })
  })
  pages.post('/people', { config: { page: 'addPerson' } }, async (request, reply) => {
    const name = parsePersonName(fieldsOf(request).name ?? '')
    if (name === null)
      throw new PageError(422, 'Name the person by 1 to 64 letters, digits, dots, dashes and @. No person was added.')
    const person = { id: newPersonId(), name, grants: grantsIn(request) }
    const { secret, invitation } = newInvitation(app.clock.nowMs())
    const { actor } = visitorOf(request)
    const hadPolicy = await isPolicyInForce()
    const { isNow } = await actElsewhereOnce(door, request, async () => {
      if ((await ledger.addPerson(person, invitation, actor, app.clock.nowMs())) === 'taken')
        throw new PageError(422, `The name ${name} is taken, or was once. No person was added. Choose another name.`)
      return {}
    })
    if (!isNow) throw shownBefore(name)
    const added = (await ledger.personNamed(name))?.person
    const waits = added === undefined || added.waiting.length === 0 ? null : secondPersonText(added)
    return showScreen(door, request, reply, {
      title: `${name} was added`,
      main: linkShown(request, name, secret),
      done: `${name} was added and can sign in once the link has been used. This moves no money.${await policyText(door, hadPolicy)}${waits === null ? '' : ` ${waits}`}`,
    })
  })
  pages.post<OfPerson>('/people/:person/link', { config: { page: 'linkPerson' } }, async (request, reply) => {
    const { name } = await personOf(request.params.person)
    const { secret, invitation } = newInvitation(app.clock.nowMs())
    const { isNow } = await actElsewhereOnce(door, request, async () => {
      assertSet(name, await ledger.invite(name, invitation, visitorOf(request).actor, app.clock.nowMs()))
      return {}
    })
    if (!isNow) throw shownBefore(name)
    return showScreen(door, request, reply, {
      title: `A new link for ${name}`,
      main: linkShown(request, name, secret),
      done: `A new link for ${name} was made. The password before and all sessions of ${name} have ended.`,
    })
  })
  pages.post<OfPerson>('/people/:person/roles', { config: { page: 'setRoles' } }, async (request, reply) => {
    const person = await personOf(request.params.person)
    const { name } = person
    const { actor } = visitorOf(request)
    const hadPolicy = await isPolicyInForce()
    const { isNow } = await actElsewhereOnce(door, request, async () => {
      if (fieldsOf(request).shown !== shownIn(person))
        throw new PageError(
          409,
          `The roles of ${name} have changed since you opened the page. Nothing was changed: open it again.`,
        )
      assertSet(name, await ledger.setGrants(name, grantsIn(request), reasonIn(request), actor, app.clock.nowMs()))
      return {}
    })
    const told = { done: { act: 'roles', name, hadPolicy }, isAgain: !isNow } as const
    return redirectDone(door, request, reply, `/people/${encodeURIComponent(name)}`, told)
  })
  pages.post<OfPerson>('/people/:person/confirm', { config: { page: 'confirmPerson' } }, async (request, reply) => {
    const { name } = await personOf(request.params.person)
    const { isNow } = await actElsewhereOnce(door, request, async () => {
      const { kind } = await ledger.confirmPerson(name, visitorOf(request).actor, app.clock.nowMs())
      if (kind !== 'confirmed') throw new PageError(422, `${CONFIRM_REFUSED[kind]} Nothing was changed.`)
      return {}
    })
    const done = { act: 'confirm-person', name, hadPolicy: true } as const
    return redirectDone(door, request, reply, `/people/${encodeURIComponent(name)}`, { done, isAgain: !isNow })
  })
  pages.post<OfPerson>('/people/:person/revoke', { config: { page: 'revokePerson' } }, async (request, reply) => {
    const { name } = await personOf(request.params.person)
    const { subject, isNow } = await actElsewhereOnce(door, request, async () => ({
      how: await ledger.revokePerson(name, reasonIn(request), visitorOf(request).actor, app.clock.nowMs()),
    }))
    const wasRevoked = subject.how !== 'revoked'
    const done = { act: 'revoke-person', name, hadPolicy: true, wasRevoked } as const
    return redirectDone(door, request, reply, '/people', { done, isAgain: !isNow && !wasRevoked })
  })

  /** Whether one of them alone can have money sent. */
  async function approvalsText(): Promise<Html> {
    const policy = await ledger.approvalPolicy()
    if (policy !== null) return html`<p>An approval policy is in force: what it asks for is shown under Policy.</p>`
    return html`<p>No approval policy is in force: one person alone can have any sum sent. Unless a policy was adopted or turned off before, one begins with the first change here that leaves two people who can move money, one of them an approver. Every batch then waits for an approval, also those of services and messages.</p>`
  }

  async function isPolicyInForce(): Promise<boolean> {
    return (await ledger.approvalPolicy()) !== null
  }

  async function personOf(name: string): Promise<Person> {
    const found = await ledger.personNamed(name)
    if (found === null) throw new PageError(404, 'There is no such person. Nothing was changed.')
    return found.person
  }

  function linkShown({ protocol, headers }: FastifyRequest, name: string, secret: string): Html {
    const url = invitationUrl(app.config.serving.publicUrl ?? `${protocol}://${headers.host}`, secret)
    return html`${note('plain', html`<p>Give this link to ${name} alone. It works once, within 24 hours, to choose a password, and is not shown again.</p><p>${idText(url)}</p>`)}<p><a href="/people">People</a></p>`
  }
}

/** The link that was made then is not ended by a form that is sent twice, and is kept nowhere. */
function shownBefore(name: string): PageError {
  return new PageError(409, `You sent this form before: the link for ${name} was shown then. Nothing was changed.`)
}

const CONFIRM_REFUSED = {
  'same-hand': 'You may be the one who made this account or gave its roles, so another person must confirm it.',
  nothing: 'There is nothing to confirm.',
  others: 'Another administrator can confirm it.',
  unknown: 'There is no such person.',
  revoked: 'This person can no longer sign in.',
} as const

/** Whose word it takes that this is somebody's own account. */
function secondOf(request: FastifyRequest, door: ConsoleDoor, person: Person, people: readonly Person[]): Html {
  const text = secondPersonText(person)
  if (text === null) return person.confirmedBy === null ? NOTHING : html`<p>Confirmed by ${person.confirmedBy}.</p>`
  const path = `/people/${encodeURIComponent(person.name)}`
  const mine = mayConfirm(identityOf(visitorOf(request).actor), person, people)
  const others = confirmersOf(person, people).map(({ name }) => name)
  const who =
    others.length > 0
      ? html`<p>${others.join(', ')} can confirm it.</p>`
      : html`<p>No other administrator can confirm it, so the owner of this machine does: <code>${commandText('people', 'confirm', person.name)}</code></p>`
  const confirm = () =>
    form(request, door, {
      ...{ action: `${path}/confirm`, button: `Confirm ${person.name}` },
      fields: html`<p>Confirm only if you know that the account is ${person.name}’s own, and that they are to have these roles.</p>`,
    })
  return html`<h2>Second person</h2><p>${text}</p>${mine ? freshly(request, path, confirm) : who}`
}

function assertSet(name: string, how: string): void {
  if (how === 'provided')
    throw new PageError(
      422,
      `${name} signs in with the identity provider: roles come from groups there, and there is no password here. Nothing was changed. Change the groups there; to block ${name} now, revoke them here.`,
    )
  if (how === 'revoked' || how === 'unknown')
    throw new PageError(422, `${name} can no longer sign in. Nothing was changed. Add another person.`)
}

/** Those that wait too: whoever changes the roles sees them ticked. */
function rolesOf({ grants, waiting }: Person): readonly GrantName[] {
  return [...grants, ...waiting].map(({ name }) => name)
}

/** As the form says which roles it changes. */
function shownIn(person: Person): string {
  return rolesOf(person).join(' ')
}

function rolesTicked(fields: Fields): readonly GrantName[] {
  return Object.keys(fields).flatMap((field) => {
    const name = field.startsWith('role-') ? parseGrant(field.slice('role-'.length)) : undefined
    return name === undefined ? [] : [name]
  })
}

function grantsIn(request: FastifyRequest): readonly GrantName[] {
  const grants = rolesTicked(fieldsOf(request))
  if (grants.length === 0) throw new PageError(422, 'Tick one role at least. Nothing was changed.')
  return grants
}

function peopleOf(people: readonly Person[]): Html {
  const columns = [
    { name: 'Name' },
    { name: 'State', kind: 'word' },
    { name: 'Roles', kind: 'text' },
    { name: 'Added' },
  ] as const
  const rows = people.map((person) => [
    html`<a href="/people/${encodeURIComponent(person.name)}">${person.name}</a>`,
    html`${personState(person)}`,
    html`${[...person.grants.map(({ name }) => name), ...person.waiting.map(({ name }) => `${name} (waits)`)].join(', ')}`,
    html`${moment(person.createdAtMs)} by ${person.createdBy}`,
  ])
  return table('People, those who can no longer sign in too', columns, rows)
}

function roleFields(has: readonly GrantName[]): Html {
  const boxes = GRANTS.map((name) => {
    const box = has.includes(name)
      ? html`<input type="checkbox" name="role-${name}" checked>`
      : html`<input type="checkbox" name="role-${name}">`
    return html`<p class="choice"><label>${box} <strong>${name}</strong>: ${MEANINGS[name]}</label></p>`
  })
  return html`<fieldset><legend>Roles</legend>${boxes}</fieldset>`
}

function addForm(request: FastifyRequest, door: ConsoleDoor): Html {
  const typed = typedIn(request, '/people')
  const fields = html`<div class="field"><label>Name, with which they sign in <input name="name" required autocomplete="off" maxlength="64" value="${typed.name ?? ''}"></label></div>${roleFields(rolesTicked(typed))}`
  return form(request, door, { action: '/people', fields, button: 'Add the person' })
}

function onePerson(request: FastifyRequest, door: ConsoleDoor, person: Person): Html {
  const path = `/people/${encodeURIComponent(person.name)}`
  const rows = person.grants.map(({ name, atMs, by }) => [html`${name}`, moment(atMs), html`${by}`])
  const has = table('Roles', [{ name: 'Role' }, { name: 'Since' }, { name: 'Given by' }], rows)
  const state = html`<p>${personState(person)}, added ${moment(person.createdAtMs)} by ${person.createdBy}.</p>`
  if (person.revokedAtMs !== null)
    return html`${state}${has}<p>Can no longer sign in, since ${moment(person.revokedAtMs)}.</p>`
  if (person.issuer !== null)
    return html`${state}<p>Signs in with the identity provider ${idText(person.issuer)}. Roles come from the groups there and are updated at each sign-in.</p>${has}${freshly(request, path, () => revoking(request, door, person, path))}`
  return html`${state}${has}${freshly(request, path, () => changes(request, door, person, path))}`
}

function changes(request: FastifyRequest, door: ConsoleDoor, person: Person, path: string): Html {
  const typed = typedIn(request, `${path}/roles`)
  const had = rolesOf(person)
  const roles = form(request, door, {
    action: `${path}/roles`,
    fields: html`<input type="hidden" name="shown" value="${shownIn(person)}">${roleFields(typed.shown === shownIn(person) ? rolesTicked(typed) : had)}${reasonField('It is kept in the audit.', typed)}<p>Open sessions of ${person.name} end. A new approver can approve after 24 hours, and never what you handed in.</p>`,
    button: 'Set these roles',
  })
  const link = form(request, door, {
    action: `${path}/link`,
    fields: html`<p>This ends the password and all sessions of ${person.name}.</p>`,
    button: 'Make a new link',
    kind: 'other',
  })
  return html`<h2>Change the roles</h2>${roles}<h2>Forgotten password</h2>${link}${revoking(request, door, person, path)}`
}

function revoking(request: FastifyRequest, door: ConsoleDoor, person: Person, path: string): Html {
  const revoke = form(request, door, {
    action: `${path}/revoke`,
    fields: html`<p>${person.name} can no longer sign in; sessions end at once. What ${person.name} submitted or approved stands.</p>${reasonField('It is kept in the audit.', typedIn(request, `${path}/revoke`))}`,
    button: `Revoke ${person.name}`,
    kind: 'other',
  })
  return html`<h2>Revoke</h2>${revoke}`
}
