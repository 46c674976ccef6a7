// A page around what a screen has to say.

import type { FastifyReply } from 'fastify'
import { type Html, html } from '../present/html.ts'

export function showPage(reply: FastifyReply, title: string, main: Html): FastifyReply {
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} – Tranche</title><meta name="viewport" content="width=device-width"></head><body><main><h1>${title}</h1>${main}</main></body></html>`
  return reply.type('text/html; charset=utf-8').send(page.toString())
}
