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
