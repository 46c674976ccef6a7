// Every page, and what it asks of a person. What is not in this table is not served.

import type { Permission } from '../domain/person.ts'

export interface PageEntry {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** `anybody`: without being signed in. `own`: whoever is. */
  readonly permission: Permission | 'anybody'
  /** Needs a password or a sign-in from the last five minutes. */
  readonly stepUp?: true
  /** A file comes with the form: the page reads it, and the token of the form first. */
  readonly hasFile?: true
}

const OPEN = { permission: 'anybody' } as const

export const PAGES = {
  asset: { ...OPEN, method: 'GET', path: '/assets/:name' },
  live: { method: 'GET', path: '/live', permission: 'view' },
  theme: { ...OPEN, method: 'POST', path: '/theme' },
  overview: { method: 'GET', path: '/', permission: 'own' },
  newBatch: { method: 'GET', path: '/new', permission: 'submit' },
  upload: { method: 'POST', path: '/new', permission: 'submit', hasFile: true },
  check: { method: 'GET', path: '/checks/:check', permission: 'submit' },
  checkAgain: { method: 'POST', path: '/checks/:check/again', permission: 'submit' },
  rejects: { method: 'GET', path: '/checks/:check/rejects.csv', permission: 'submit' },
  handIn: { method: 'POST', path: '/checks/:check/submit', permission: 'submit' },
  batch: { method: 'GET', path: '/batches/:batch', permission: 'view' },
  rows: { method: 'GET', path: '/batches/:batch/rows', permission: 'view' },
  resultsCsv: { method: 'GET', path: '/batches/:batch/results.csv', permission: 'results' },
  resultsXlsx: { method: 'GET', path: '/batches/:batch/results.xlsx', permission: 'results' },
  resultsJsonl: { method: 'GET', path: '/batches/:batch/results.jsonl', permission: 'results' },
  summaryCsv: { method: 'GET', path: '/batches/:batch/summary.csv', permission: 'results' },
  reportHtml: { method: 'GET', path: '/batches/:batch/report.html', permission: 'results' },
  pause: { method: 'POST', path: '/batches/:batch/pause', permission: 'operate' },
  resume: { method: 'POST', path: '/batches/:batch/resume', permission: 'operate' },
  cancelPage: { method: 'GET', path: '/batches/:batch/cancel', permission: 'operate' },
  cancel: { method: 'POST', path: '/batches/:batch/cancel', permission: 'operate' },
  approve: { method: 'POST', path: '/batches/:batch/approve', permission: 'approve', stepUp: true },
  reject: { method: 'POST', path: '/batches/:batch/reject', permission: 'approve', stepUp: true },
  policy: { method: 'GET', path: '/policy', permission: 'own' },
  health: { method: 'GET', path: '/health', permission: 'own' },
  audit: { method: 'GET', path: '/audit', permission: 'audit' },
  auditJsonl: { method: 'GET', path: '/audit.jsonl', permission: 'audit' },
  verifyAudit: { method: 'POST', path: '/audit/verify', permission: 'audit' },
  people: { method: 'GET', path: '/people', permission: 'administer' },
  addPerson: { method: 'POST', path: '/people', permission: 'administer', stepUp: true },
  person: { method: 'GET', path: '/people/:person', permission: 'administer' },
  linkPerson: { method: 'POST', path: '/people/:person/link', permission: 'administer', stepUp: true },
  setRoles: { method: 'POST', path: '/people/:person/roles', permission: 'administer', stepUp: true },
  confirmPerson: { method: 'POST', path: '/people/:person/confirm', permission: 'administer', stepUp: true },
  revokePerson: { method: 'POST', path: '/people/:person/revoke', permission: 'administer', stepUp: true },
  keys: { method: 'GET', path: '/keys', permission: 'administer' },
  addKey: { method: 'POST', path: '/keys', permission: 'administer', stepUp: true },
  key: { method: 'GET', path: '/keys/:key', permission: 'administer' },
  revokeKey: { method: 'POST', path: '/keys/:key/revoke', permission: 'administer', stepUp: true },
  webhooks: { method: 'GET', path: '/webhooks', permission: 'webhooks' },
  addWebhook: { method: 'POST', path: '/webhooks', permission: 'administer', stepUp: true },
  webhook: { method: 'GET', path: '/webhooks/:endpoint', permission: 'webhooks' },
  pingWebhook: { method: 'POST', path: '/webhooks/:endpoint/ping', permission: 'administer' },
  enableWebhook: { method: 'POST', path: '/webhooks/:endpoint/enable', permission: 'administer', stepUp: true },
  rotateWebhook: { method: 'POST', path: '/webhooks/:endpoint/rotate', permission: 'administer', stepUp: true },
  removeWebhook: { method: 'POST', path: '/webhooks/:endpoint/remove', permission: 'administer', stepUp: true },
  replayWebhook: { method: 'POST', path: '/webhooks/:endpoint/replay', permission: 'operate' },
  delivery: { method: 'GET', path: '/webhooks/:endpoint/deliveries/:event', permission: 'webhooks' },
  replayDelivery: { method: 'POST', path: '/webhooks/:endpoint/deliveries/:event/replay', permission: 'operate' },
  find: { method: 'GET', path: '/find', permission: 'view' },
  instruction: { method: 'GET', path: '/instructions', permission: 'view' },
  doubts: { method: 'GET', path: '/doubts', permission: 'view' },
  doubtsCsv: { method: 'GET', path: '/doubts.csv', permission: 'results' },
  doubt: { method: 'GET', path: '/doubts/:row', permission: 'view' },
  resolve: { method: 'POST', path: '/doubts/:row/resolve', permission: 'operate' },
  worklistUpload: { method: 'POST', path: '/doubts/worklists', permission: 'operate', hasFile: true },
  worklist: { method: 'GET', path: '/doubts/worklists/:file', permission: 'operate' },
  recordWorklist: { method: 'POST', path: '/doubts/worklists/:file/record', permission: 'operate' },
  confirmProposal: { method: 'POST', path: '/doubts/:row/confirm', permission: 'approve', stepUp: true },
  refuseProposal: { method: 'POST', path: '/doubts/:row/refuse', permission: 'approve' },
  withdrawProposal: { method: 'POST', path: '/doubts/:row/withdraw', permission: 'operate' },
  merchants: { method: 'GET', path: '/merchants', permission: 'view' },
  merchant: { method: 'GET', path: '/merchants/:merchant', permission: 'view' },
  rate: { method: 'POST', path: '/merchants/:merchant/rate', permission: 'operate' },
  resumeMerchant: { method: 'POST', path: '/merchants/:merchant/resume', permission: 'operate' },
  signInPage: { ...OPEN, method: 'GET', path: '/sign-in' },
  signIn: { ...OPEN, method: 'POST', path: '/sign-in' },
  provider: { ...OPEN, method: 'GET', path: '/sign-in/provider' },
  providerBack: { ...OPEN, method: 'GET', path: '/sign-in/provider/return' },
  providerAgain: { method: 'GET', path: '/step-up/provider', permission: 'own' },
  joinPage: { ...OPEN, method: 'GET', path: '/join/:invitation' },
  join: { ...OPEN, method: 'POST', path: '/join/:invitation' },
  signOut: { method: 'POST', path: '/sign-out', permission: 'own' },
  stepUpPage: { method: 'GET', path: '/step-up', permission: 'own' },
  stepUp: { method: 'POST', path: '/step-up', permission: 'own' },
  sessionsPage: { method: 'GET', path: '/sessions', permission: 'own' },
  changePassword: { method: 'POST', path: '/sessions/password', permission: 'own' },
  endSession: { method: 'POST', path: '/sessions/:session/end', permission: 'own' },
} as const satisfies Readonly<Record<string, PageEntry>>
export type PageName = keyof typeof PAGES

export function pageEntry(name: PageName): PageEntry {
  return PAGES[name]
}

/** Where the form of an act stands: the nearest page above it. null: none is. */
export function formPage({ path }: PageEntry): PageName | null {
  const pages = Object.entries(PAGES) as readonly [PageName, PageEntry][]
  for (let parts = path.split('/'); parts.length > 1; parts = parts.slice(0, -1)) {
    const above = parts.join('/')
    const found = pages.find(([, page]) => page.method === 'GET' && page.path === above)
    if (found !== undefined) return found[0]
  }
  return null
}

/** The same page, as the form of that address is of one thing. */
export function pageOfForm(entry: PageEntry, url: string): string {
  const name = formPage(entry)
  if (name === null) return '/'
  const asked = url.split('?')[0]?.split('/') ?? []
  return asked.slice(0, pageEntry(name).path.split('/').length).join('/')
}
