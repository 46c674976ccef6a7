// Keys of services: made, and taken away. What a key may do it does without a person; it approves nothing.

import type { FastifyRequest } from 'fastify'
import { addKey, environmentOf } from '../../app/keys.ts'
import {
  type ApiKey,
  KEY_LIVES_DAYS,
  parseKeyDays,
  parseKeyName,
  parseScope,
  SCOPES,
  type Scope,
} from '../../domain/api-key.ts'
import { isNetwork } from '../../files/networks.ts'
import { type Html, html } from '../../present/html.ts'
import { keyState } from '../../present/keys.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { type Fields, fieldsOf, reasonIn } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { actElsewhereOnce, actOnce } from '../once.ts'
import { facts, form, freshly, idText, moment, NOTHING, note, reasonField, table } from '../parts.ts'
import { typedIn } from '../refused.ts'
import { visitorOf } from '../visit.ts'

interface OfKey {
  readonly Params: { readonly key: string }
}

const NO_KEY = 'No key was made.'

const MEANINGS: Readonly<Record<Scope, string>> = {
  'audit:read': 'reads the audit, and events of who may come in',
  'batches:read': 'sees batches',
  'batches:steer': 'pauses, resumes and cancels batches',
  'batches:write': 'hands batches in',
  'doubts:read': 'sees what is in doubt',
  'doubts:resolve': 'says what was found about a doubt, but never has anything sent again',
  'endpoints:read': 'sees webhooks and deliveries',
  'endpoints:write': 'adds and removes webhooks, and has events sent again',
  'events:read': 'reads events',
  'files:write': 'uploads and checks files',
  'instructions:read': 'looks instructions up',
  'instructions:write': 'hands single instructions in',
  'merchants:read': 'sees merchants',
  'merchants:steer': 'sets rates and lets merchants go on',
  'results:read': 'downloads result files, which hold names',
}

export function addKeyPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/keys', { config: { page: 'keys' } }, async (request, reply) => {
    const main = html`<p>Services come through the HTTP API with a key. No key can approve, or have a doubt sent again.</p>${listOf(await ledger.keys(), app.clock.nowMs())}<h2>Make a key</h2>${freshly(request, '/keys', () => addForm(request, door))}`
    return showScreen(door, request, reply, { title: 'Keys of services', section: 'Keys', main })
  })
  pages.post('/keys', { config: { page: 'addKey' } }, async (request, reply) => {
    const asked = keyIn(door, fieldsOf(request))
    const { actor } = visitorOf(request)
    let made: { readonly id: string; readonly key: string } | null = null
    await actOnce(door, request, async (once) => {
      made = await addKey({ key: ledger.key, addKey: once.addKey }, asked, actor, app.clock.nowMs())
    })
    const main = html`${shownOnce(asked.name, made)}<p><a href="/keys">Keys</a></p>`
    const done = made === null ? {} : { done: `Key ${asked.name} was made. ${await mayText(door, asked.scopes)}` }
    return showScreen(door, request, reply, { title: `Key ${asked.name}`, section: 'Keys', main, ...done })
  })
  pages.get<OfKey>('/keys/:key', { config: { page: 'key' } }, async (request, reply) => {
    const key = await findKey(door, request.params.key)
    const main = onePage(request, door, key)
    return showScreen(door, request, reply, { title: `Key ${key.name}`, section: 'Keys', main })
  })
  pages.post<OfKey>('/keys/:key/revoke', { config: { page: 'revokeKey' } }, async (request, reply) => {
    const { id } = await findKey(door, request.params.key)
    const { subject, isNow } = await actElsewhereOnce(door, request, async () => ({
      how: await ledger.revokeKey(id, reasonIn(request), visitorOf(request).actor, app.clock.nowMs()),
    }))
    const wasRevoked = subject.how !== 'revoked'
    const told = { done: { act: 'revoke-key', id, wasRevoked }, isAgain: !isNow && !wasRevoked } as const
    return redirectDone(door, request, reply, keyPath(id), told)
  })
}

function keyPath(id: string): string {
  return `/keys/${encodeURIComponent(id)}`
}

async function findKey({ ledger }: ConsoleDoor, id: string): Promise<ApiKey> {
  const key = (await ledger.keys()).find((one) => one.id === id)
  if (key === undefined) throw new PageError(404, 'There is no such key. Nothing was changed.')
  return key
}

const COLUMNS = [
  { name: 'Key' },
  { name: 'Name', kind: 'text' },
  { name: 'State', kind: 'word' },
  { name: 'May', kind: 'text' },
  { name: 'Merchants', kind: 'text' },
  { name: 'Expires' },
  { name: 'Last used' },
] as const

function listOf(keys: readonly ApiKey[], nowMs: number): Html {
  if (keys.length === 0) return html`<p>There is no key: no service comes through the HTTP API.</p>`
  const rows = keys.map((key) => [
    html`<a class="id" href="${keyPath(key.id)}">${key.id}</a>`,
    html`${key.name}`,
    html`${keyState(key, nowMs)}`,
    html`${key.scopes.join(', ')}`,
    html`${key.merchants?.join(', ') ?? 'all'}`,
    moment(key.expiresAtMs),
    key.lastUsedAtMs === null ? html`never` : moment(key.lastUsedAtMs),
  ])
  return table('Keys, the revoked and expired ones too', COLUMNS, rows)
}

function onePage(request: FastifyRequest, door: ConsoleDoor, key: ApiKey): Html {
  const { id, name, scopes, merchants, networks, createdAtMs, createdBy, expiresAtMs, revokedAtMs, lastUsedAtMs } = key
  const shown = facts([
    ['Key', idText(id)],
    ['State', html`${keyState(key, door.app.clock.nowMs())}`],
    ['Made', html`${moment(createdAtMs)} by ${createdBy}`],
    ['Expires', moment(expiresAtMs)],
    ['Revoked', revokedAtMs === null ? null : moment(revokedAtMs)],
    ['Last used', lastUsedAtMs === null ? html`never` : moment(lastUsedAtMs)],
    ['Merchants', html`${merchants?.join(', ') ?? 'all'}`],
    ['Networks', html`${networks?.join(', ') ?? 'any'}`],
    ['May', html`<ul>${scopes.map((scope) => html`<li><code>${scope}</code> ${MEANINGS[scope]}</li>`)}</ul>`],
  ])
  if (revokedAtMs !== null) return html`${shown}<p>Its requests are refused. What was handed in with it stays.</p>`
  const revoke = () =>
    form(request, door, {
      action: `${keyPath(id)}/revoke`,
      fields: html`<p>Its next request is refused. What was handed in with it stays as it is. This cannot be undone: make another key instead.</p>${reasonField('It is kept in the audit.', typedIn(request, `${keyPath(id)}/revoke`))}`,
      button: `Revoke ${name}`,
      kind: 'other',
    })
  return html`${shown}<h2>Revoke</h2>${freshly(request, keyPath(id), revoke)}`
}

// ───────────────────────────────────────────────────────────── Making one

const HANDS_IN: readonly Scope[] = ['batches:write', 'instructions:write']
const LETS_GO_ON: readonly Scope[] = ['batches:steer', 'merchants:steer']

/** What it means for the money. */
async function mayText({ ledger }: ConsoleDoor, scopes: readonly Scope[]): Promise<string> {
  if (!scopes.some((scope) => HANDS_IN.includes(scope)))
    return scopes.some((scope) => LETS_GO_ON.includes(scope))
      ? 'It cannot hand anything in, but it can resume what is held.'
      : 'It can neither hand anything in nor have anything sent.'
  return (await ledger.approvalPolicy()) === null
    ? 'What it hands in is sent at once: no approval policy is in force.'
    : 'What it hands in waits for people where the approval policy says so.'
}

function addForm(request: FastifyRequest, door: ConsoleDoor): Html {
  const typed = typedIn(request, '/keys')
  const { name = '', networks = '', days = KEY_LIVES_DAYS } = typed
  const box = (field: string, label: Html) =>
    html`<p class="choice"><label><input type="checkbox" name="${field}"${typed[field] === undefined ? NOTHING : html` checked`}> ${label}</label></p>`
  const scopes = SCOPES.map((scope) => box(`scope-${scope}`, html`<strong>${scope}</strong>: ${MEANINGS[scope]}`))
  const merchants = [...door.app.config.merchants.keys()].map((merchant) =>
    box(`merchant-${merchant}`, html`${merchant}`),
  )
  const fields = html`<div class="field"><label>Name<span class="hint"> Of the service that uses it</span><input name="name" required autocomplete="off" maxlength="64" value="${name}"></label></div><fieldset><legend>What it may do</legend>${scopes}</fieldset><fieldset><legend>For which merchants</legend><p class="hint">None ticked: for all, also those that are added later.</p>${merchants}</fieldset><div class="field"><label>Networks (optional)<span class="hint"> From where it is taken, one in a line, such as 10.0.0.0/8. Empty: from anywhere.</span><textarea name="networks" rows="2">${networks}</textarea></label></div><div class="field"><label>Expires after days<span class="hint"> A year at most</span><input name="days" required inputmode="numeric" value="${days}" maxlength="3"></label></div>`
  return form(request, door, { action: '/keys', fields, button: 'Make the key' })
}

function keyIn({ app }: ConsoleDoor, fields: Fields) {
  const name = parseKeyName((fields.name ?? '').trim())
  if (name === null)
    throw new PageError(422, `Name the key by 1 to 64 letters, digits, spaces, dots and dashes. ${NO_KEY}`)
  const scopes = tickedIn(fields, 'scope-').flatMap((text) => parseScope(text) ?? [])
  if (scopes.length === 0) throw new PageError(422, `Tick what the key may do. ${NO_KEY}`)
  const merchants = tickedIn(fields, 'merchant-')
  if (!merchants.every((merchant) => app.config.merchants.has(merchant)))
    throw new PageError(422, `One of the merchants is configured no more. ${NO_KEY} Open the page again.`)
  const networks = (fields.networks ?? '').split(/\s+/).filter((text) => text !== '')
  const wrong = networks.find((text) => !isNetwork(text))
  if (wrong !== undefined)
    throw new PageError(422, `${wrong} is no network: write one such as 10.0.0.0/8, or an address. ${NO_KEY}`)
  const livesMs = parseKeyDays((fields.days ?? '').trim())
  if (livesMs === null) throw new PageError(422, `Write for how many days it is valid, from 1 to 366. ${NO_KEY}`)
  const orNull = (names: readonly string[]) => (names.length === 0 ? null : names)
  const environment = environmentOf(app.config.merchants, orNull(merchants))
  return { name, scopes, merchants: orNull(merchants), environment, networks: orNull(networks), livesMs }
}

function tickedIn(fields: Fields, beginning: string): readonly string[] {
  return Object.keys(fields).flatMap((field) => (field.startsWith(beginning) ? [field.slice(beginning.length)] : []))
}

/** null: the form was sent before. */
function shownOnce(name: string, made: { readonly id: string; readonly key: string } | null): Html {
  if (made === null)
    return note(
      'plain',
      html`<p>This form was sent before: the key was shown then, and is not shown again. If nobody has it, revoke it and make another.</p>`,
    )
  return note(
    'plain',
    html`<p>The key of ${name}. Keep it where the service keeps its secrets: it is not shown again, and nobody else has it.</p><p>${idText(made.key)}</p><p>Its id is ${idText(made.id)}: by that it is known here.</p>`,
  )
}
