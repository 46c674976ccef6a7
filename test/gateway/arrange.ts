// What the gateway tests start from: an instruction, a real clock, and a client for an address.

import type { Instruction, Operation } from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'
import { type GatewayOptions, openGateway } from '../../src/gateway/client.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Gateway } from '../../src/ports/gateway.ts'

export const EUR = 'EUR' as Currency

export function refund(orderId = '777', changes: Partial<Instruction> = {}): Instruction {
  return instructionOf('REFUND', { orderId, ...changes })
}

export function instructionOf(operation: Operation, changes: Partial<Instruction> = {}): Instruction {
  return {
    reference: 'r-1',
    operation,
    money: { amountMinor: 1230n, currency: EUR },
    orderId: null,
    vaultId: null,
    card: null,
    saveCardOnFile: false,
    xtlOrderId: null,
    details: {},
    executeAtMs: null,
    expiresAtMs: null,
    ...changes,
  }
}

export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

/** A client that closes when its test is over. */
export function clientOf(url: string, changes: Partial<GatewayOptions> = {}): Gateway & AsyncDisposable {
  const gateway = openGateway({
    url,
    username: 'merchant-one',
    password: 'sesame & "open"',
    // Long enough never to matter; tests of the deadline set their own.
    timeoutMs: 60_000,
    connections: 'fresh',
    inFlightMax: 8,
    refundParameter: 'transaction_type',
    charset: 'utf-8',
    clock: realClock,
    ...changes,
  })
  return Object.assign(gateway, { [Symbol.asyncDispose]: () => gateway.close() })
}

export const GO = () => null
export const NEVER = new AbortController().signal
