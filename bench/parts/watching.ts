// Many who watch the same page, and how long each waits from one telling to the next.

import { Agent, get } from 'node:http'

export interface Watching {
  /** Of all who watch. */
  gapsMs(): readonly number[]
  close(): void
}

/** `each`: streams of one session. Resolves when all have been told something. */
export async function watch(url: string, cookies: readonly string[], each: number): Promise<Watching> {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
  const gaps: number[] = []
  const streams = cookies.flatMap((cookie) => Array.from({ length: each }, () => open(url, cookie, agent, gaps)))
  await Promise.all(streams.map(({ told }) => told))
  gaps.length = 0
  return {
    gapsMs: () => gaps,
    close: () => agent.destroy(),
  }
}

function open(url: string, cookie: string, agent: Agent, gaps: number[]) {
  let lastMs: number | null = null
  const told = new Promise<void>((resolve, reject) => {
    const request = get(url, { agent, headers: { cookie } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`a stream was answered with ${answer.statusCode}`))
      answer.on('data', () => {
        const nowMs = performance.now()
        if (lastMs !== null) gaps.push(nowMs - lastMs)
        lastMs = nowMs
        resolve()
      })
      answer.on('error', () => {})
    })
    request.on('error', reject)
  })
  return { told }
}
