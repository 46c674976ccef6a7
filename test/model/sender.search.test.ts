// The protocol of one sender for an account, as a model: what holds in all of it, and what each guard is for.

import { describe, expect, test } from 'vitest'
import { checkModel, MAY_SKIP } from './spin.ts'

const FOR = { timeout: 3_600_000 }

/** Twice, or once and forgotten. */
const EXECUTED_WRONGLY = /executed/
/** In the end it is neither settled nor sent again. */
const LEFT_OVER = /executed\[[01]\]==0/
/** It leaves, and the record does not say that its sender claimed it. */
const UNCLAIMED = /db\.claim/
const CLAIMED_BY_ANOTHER = /^\(?db\.owner==w/
const LEAVES_AFTER_A_STOP = /command\[/
const SWEPT_TOO_EARLY = /life\[db\.maker/
const TOO_MANY_OPEN = /hand\[0\]==\d+\)\+/

describe.skipIf(MAY_SKIP)(
  'one sender for an account executes no row twice, leaves none behind and stops when it is told to',
  () => {
    test.each([
      ['where a COMMIT is not answered and a lease runs out', ['MOST=3']],
      ['where one row may be open', ['MOST=2', 'IN_FLIGHT=1']],
      ['where a worker dies', ['MOST=2', 'DEATHS=1']],
      ['where a worker dies and no time passes', ['MOST=2', 'DEATHS=1', 'STILL']],
      ['where a sender gives its account back', ['MOST=2', 'LEAVES=1']],
      ['where a worker is asked to end', ['MOST=2', 'QUIT']],
      ['where a lagging standby takes over', ['MOST=3', 'FAILOVER', 'SAME_ORDER']],
      ['where an older page comes back', ['MOST=2', 'TORN']],
      ['where an answer stops the batch', ['MOST=2', 'BRAKE']],
      ['where a person cancels the batch', ['MOST=2', 'CANCEL']],
      ['where a person pauses the batch, resumes it and pauses it again', ['MOST=2', 'PAUSE', 'RESUMES=1']],
      ['where two people pause two batches', ['MOST=1', 'PAUSE', 'TWO_BATCHES']],
      [
        'where a person pauses the batch and a lagging standby takes over',
        ['MOST=2', 'PAUSE', 'FAILOVER', 'SAME_ORDER'],
      ],
      ['where a person cancels the batch and a worker dies', ['MOST=2', 'CANCEL', 'DEATHS=1']],
    ])('%s', FOR, async (_where, bounds) => {
      expect(await checkModel('sender', ...bounds)).toMatchObject({ isWhole: true, broken: null })
    })

    test.each([
      [
        'a claim is known by its attempt alone, over a failover',
        'CLAIM',
        ['MOST=3', 'FAILOVER', 'SAME_ORDER'],
        EXECUTED_WRONGLY,
      ],
      ['a claim is known by its attempt alone, over a death', 'CLAIM', ['MOST=3', 'DEATHS=1'], EXECUTED_WRONGLY],
      ['an adoption forgets no claims', 'RESTORED', ['MOST=3', 'FAILOVER', 'SAME_ORDER'], EXECUTED_WRONGLY],
      ['an adoption puts nothing in doubt', 'DOUBTS', ['MOST=2', 'FAILOVER'], EXECUTED_WRONGLY],
      ['a claim does not look at the history of its server', 'TIMELINE', ['MOST=2', 'FAILOVER'], EXECUTED_WRONGLY],
      ['a lease is renewed on any server', 'RENEW', ['MOST=2', 'FAILOVER', 'SAME_ORDER'], UNCLAIMED],
      ['a COMMIT without an answer passes for a commit', 'ASKING', ['MOST=2'], LEFT_OVER],
      ['a claim may find an entry of its attempt', 'ENTRY', ['MOST=2', 'TORN'], EXECUTED_WRONGLY],
      ['the rows of an order are claimed side by side', 'ORDER', ['MOST=2', 'SAME_ORDER'], /hand\[\(1-/],
      ['the ledger thread gives claims back', 'MAIN', ['MOST=2'], UNCLAIMED],
      ['a request may leave after its send-by', 'SEND_BY', ['MOST=2', 'CANCEL'], LEAVES_AFTER_A_STOP],
      ['send-by is counted from the end of the group', 'BEGIN', ['MOST=2', 'CANCEL'], LEAVES_AFTER_A_STOP],
      ['a claim that is given back uses up its number', 'NUMBER', ['MOST=2'], /db\.attempt/],
      ['a claim keeps its number although a doubt of it is recorded', 'DOUBTED', ['MOST=3'], LEFT_OVER],
      ['a group only reads who is the sender', 'KEY_SHARE', ['MOST=2'], CLAIMED_BY_ANOTHER],
      ['a request leaves without trust in the lease', 'TRUST', ['MOST=2'], UNCLAIMED],
      ['an account is taken again while claims wait to leave', 'CALM', ['MOST=2', 'LEAVES=1'], UNCLAIMED],
      ['a sender that gives its account back trusts its lease', 'ENDS', ['MOST=2', 'LEAVES=1'], UNCLAIMED],
      ['only the sender may bring answers', 'ANYONE', ['MOST=2'], /hand\[0\]==0/],
      ['nobody sweeps', 'SWEEP', ['MOST=2', 'DEATHS=1'], LEFT_OVER],
      ['rows are swept while their answer is awaited', 'ANSWER_BY', ['MOST=2'], SWEPT_TOO_EARLY],
      ['whoever comes to the place of the dead waits like others', 'PLACE', ['MOST=2', 'DEATHS=1', 'STILL'], LEFT_OVER],
      [
        'whoever comes to the place of the dead sweeps all terms at once',
        'OWN_TERM',
        ['MOST=2', 'DEATHS=1'],
        SWEPT_TOO_EARLY,
      ],
      ['rows of earlier terms take no room', 'ALL_TERMS', ['MOST=2', 'IN_FLIGHT=1'], TOO_MANY_OPEN],
      ['claims ahead take no room', 'AHEAD', ['MOST=2', 'IN_FLIGHT=1'], TOO_MANY_OPEN],
      ['a command commits beside an open group', 'ACCOUNT', ['MOST=2', 'CANCEL'], LEAVES_AFTER_A_STOP],
      ['a command does not wait for the sender', 'SEEN', ['MOST=2', 'CANCEL'], LEAVES_AFTER_A_STOP],
      ['holds are seen before what they name is given back', 'NAMED', ['MOST=2', 'CANCEL'], LEAVES_AFTER_A_STOP],
      ['holds are seen by one that is no longer the sender', 'SEEN_TERM', ['MOST=2', 'CANCEL'], LEAVES_AFTER_A_STOP],
      [
        'a worker writes what it saw into an older state',
        'SEEN_HISTORY',
        ['MOST=2', 'PAUSE', 'FAILOVER', 'SAME_ORDER'],
        LEAVES_AFTER_A_STOP,
      ],
      [
        'a worker remembers the holds of an earlier term',
        'FORGET',
        ['MOST=2', 'PAUSE', 'FAILOVER', 'SAME_ORDER'],
        LEAVES_AFTER_A_STOP,
      ],
      ['an earlier hold that was seen is enough', 'PAST', ['MOST=2', 'PAUSE', 'RESUMES=1'], LEAVES_AFTER_A_STOP],
      ['a hold gets its number before the lock', 'NUMBERED', ['MOST=2', 'PAUSE', 'TWO_BATCHES'], LEAVES_AFTER_A_STOP],
      ['the fence does not read what an answer stopped', 'SHARED', ['MOST=2', 'BRAKE'], /stopped/],
      ['a worker ends with claims in hand', 'QUIT', ['MOST=2', 'QUIT'], /db\.maker\[0\]==w/],
    ])('come to harm where %s', FOR, async (_what, guard, bounds, harm) => {
      expect((await checkModel('sender', `WITHOUT_${guard}`, ...bounds)).broken).toMatch(harm)
    })
  },
)
