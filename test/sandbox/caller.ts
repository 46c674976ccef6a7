// A caller of the sandbox that knows nothing of the client: one request on a connection of its own, and what came back.

import { Agent, request } from 'node:http'
import type { Sandbox } from '../../src/sandbox/server.ts'

export const USERNAME = 'merchant'
export const PASSWORD = 'p&ss=w%rd'

export interface Heard {
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly contentType?: string
  readonly agent?: Agent
  readonly signal?: AbortSignal
}

/** Rejects when the connection breaks before the answer is whole. */
export function call(sandbox: Sandbox, { method = 'POST', path = '/', body, contentType, agent, signal }: Call) {
  return new Promise<Heard>((resolve, reject) => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType }
    const own = agent ?? new Agent({ keepAlive: false })
    const sent = request(
      `${sandbox.url}${path}`,
      { method, headers, agent: own, ...(signal && { signal }) },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve({ httpStatus: response.statusCode ?? 0, headers: response.headers, text }))
        response.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

export const FORM_TYPE = 'application/x-www-form-urlencoded; charset=iso-8859-1,*, utf-8'

export function send(sandbox: Sandbox, fields: Readonly<Record<string, string>>, how: Call = {}): Promise<Heard> {
  const body = new URLSearchParams({ req_username: USERNAME, req_password: PASSWORD, ...fields }).toString()
  return call(sandbox, { path: '/api/transaction/api', contentType: FORM_TYPE, body, ...how })
}

export function admin(sandbox: Sandbox, method: string, path: string, body?: unknown): Promise<Heard> {
  return call(sandbox, { method, path, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

/** The lines of an admin answer. */
export function linesOf(heard: Heard): Record<string, unknown>[] {
  return heard.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

const VAULT_PATH = '/api/integration/customer/card-tokenization'
export const VAULT_PATHS = { create: VAULT_PATH, update: `${VAULT_PATH}/update`, delete: `${VAULT_PATH}/delete` }

/** `body` as it goes over the wire where it is text: an id may have more digits than a JavaScript number keeps. */
export function sendToVault(
  sandbox: Sandbox,
  what: keyof typeof VAULT_PATHS,
  body: Readonly<Record<string, unknown>> | string,
  how: Call = {},
): Promise<Heard> {
  const credentials = { req_username: USERNAME, req_password: PASSWORD }
  const json = typeof body === 'string' ? body : JSON.stringify({ ...credentials, ...body })
  return call(sandbox, { path: VAULT_PATHS[what], contentType: 'application/json', body: json, ...how })
}

export const CUSTOMER_DETAILS = {
  first_name: 'Ada',
  last_name: 'Byron',
  email: 'ada@example.com',
  phone: '5551234',
  address_1: '1 Main St',
  address_2: '',
  city: 'London',
  state: '',
  zip: 'N1',
  country: 'GB',
}
export const CARD_DETAILS = {
  card_number: '4111111111111111',
  card_exp_mm: '12',
  card_exp_yy: '27',
  card_cvv: '987',
}
export const RECORD = { customer_details: CUSTOMER_DETAILS, card_details: CARD_DETAILS }

/** A Visa number with that end that passes Luhn. */
export function cardEnding(lastFour: string): string {
  for (let middle = 0; ; middle++) {
    const number = `41111111111${middle}${lastFour}`
    const sum = [...number].reduce((all, digit, i) => {
      const worth = Number(digit) * (i % 2 === 0 ? 2 : 1)
      return all + (worth > 9 ? worth - 9 : worth)
    }, 0)
    if (sum % 10 === 0) return number
  }
}
