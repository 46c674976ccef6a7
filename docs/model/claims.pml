/*
 * Claims, leases and a failover, for several workers on one ledger in PostgreSQL: three workers, two rows of one order.
 * README.md says what is assumed, and how to run it. Each step is one transaction of the ledger, or one step of a worker, and
 * bears the name that it has in the code. -DWITHOUT_… takes a guard out.
 */

#define W 3
#define R 2
#define CLAIMS 2 /* that one worker makes, at most */
#ifndef MOST
#define MOST 4   /* that all of them make */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef MISTAKES
#define MISTAKES 0 /* findings of a person that are wrong */
#endif

mtype = { READY, SENDING, IN_DOUBT, APPROVED }
mtype = { IDLE, ASKING, CLAIMED, SENT, ANSWERED, UNSENT, UNANSWERED, DEAD, GONE }

/* ── The ledger, as the server has it ── */
typedef Ledger {
  mtype state[R];
  byte attempt[R];
  byte owner[R];   /* of the last claim; W: none */
  byte number[R];  /* of the claim, counted by its owner */
  byte transactor[W];    /* the last of its claims that was committed */
  bool fenced[W];  /* its lease is over, by the server's clock, and others have noticed */
  bool ended[W];
  bool restored[R]; /* its last claim came before an older state was taken over */
  bool warned[R];  /* a late answer says that it was executed */
  bit timeline     /* that the ledger remembers */
};
Ledger db;
Ledger replica;    /* what a standby has: an earlier state, once it was taken */
bool taken;
bit serverTimeline;

/* ── Each worker ── */
mtype phase[W];
byte hand[W];      /* the row in its hand */
byte tries[W];     /* the attempt in its hand */
byte count[W];     /* claims so far */
bool trust[W];
bool sendByOver[W];

/* ── The gateway's own book ── */
byte executed[R];
bool flying[W];    /* a request that may still be executed; it outlives whoever sent it */
byte flight[W];
byte stray[R];     /* requests that nobody waits for any more */

byte deaths;
byte mistakes;
bool wrongly[R];   /* a person said that it was not executed, and it was */
bool told[R];      /* the ledger was told that it was executed, by an answer that settled nothing */
byte made;         /* claims, of all workers */

inline forget(w) { hand[w] = 0; tries[w] = 0; sendByOver[w] = false }

/* An answer that settles nothing is kept with the row; one that waits to be sent is stopped. */
inline keepLateAnswer(r) {
  told[r] = true;
#ifndef WITHOUT_WARNED
  db.warned[r] = true; if :: db.state[r] == READY -> db.state[r] = IN_DOUBT :: else -> skip fi
#else
  skip
#endif
}

/* No other row of its order is being sent, in doubt, or ahead of it. */
#define orderIsFree(r) (db.state[1 - r] != SENDING && db.state[1 - r] != IN_DOUBT && (r == 0 || db.state[0] != READY))
#ifdef WITHOUT_ORDER
#define orderAllows(r) true
#else
#define orderAllows(r) orderIsFree(r)
#endif
#ifdef WITHOUT_FENCED
#define isMember(w) (!db.ended[w])
#else
#define isMember(w) (!db.ended[w] && !db.fenced[w])
#endif
#ifdef WITHOUT_TIMELINE
#define sameHistory true
#else
#define sameHistory (db.timeline == serverTimeline)
#endif
/* An answer belongs to its claim, not to its attempt: two histories may each have one of that number. */
#ifdef WITHOUT_TOKEN
#define isMine(w) (db.attempt[hand[w]] == tries[w])
#else
#define isMine(w) (db.attempt[hand[w]] == tries[w] && db.owner[hand[w]] == w && db.number[hand[w]] == count[w])
#endif
#define isOwn(w) (db.state[hand[w]] == SENDING && isMine(w))
/* Swept, since the last adoption. */
#ifdef WITHOUT_RESTORED
#define isLate(w) (db.state[hand[w]] == IN_DOUBT && isMine(w))
#else
#define isLate(w) (db.state[hand[w]] == IN_DOUBT && isMine(w) && !db.restored[hand[w]])
#endif

inline write(w, r) {
  assert(!told[r] && !db.fenced[w] && !db.ended[w]);
  db.restored[r] = false; db.state[r] = SENDING; db.attempt[r]++; db.owner[r] = w; db.number[r] = count[w]; db.transactor[w] = count[w]
}
inline unclaim(r, to) { db.state[r] = to }
/* stopExecuted: what was executed before is not sent again; a person looks. */
#ifdef WITHOUT_WARNED
inline release(r) { unclaim(r, READY) }
#else
inline release(r) { if :: db.warned[r] -> db.state[r] = IN_DOUBT :: else -> unclaim(r, READY) fi }
#endif

/* Nobody can send the row any more, and nothing of it is on its way: what the rest of a doubt and an answer-by wait for. */
#define mayStillSend(w, r) ((phase[w] == CLAIMED || phase[w] == ASKING) && hand[w] == r && !sendByOver[w])
#define mayStillFly(w, r) (flying[w] && flight[w] == r)
#define isUnderWay(r) (mayStillFly(0, r) || mayStillFly(1, r) || mayStillFly(2, r))
#define isQuiet(r) (!mayStillSend(0, r) && !mayStillSend(1, r) && !mayStillSend(2, r) && !mayStillFly(0, r) && !mayStillFly(1, r) && !mayStillFly(2, r) && stray[r] == 0)
/* By the server's clock: the send-by is over, and the worker waits for no answer any more. */
#define answerByOver(w, r) (isDead(w) || hand[w] != r || (sendByOver[w] && phase[w] != SENT && phase[w] != ANSWERED))

#define isDead(w) (phase[w] == DEAD || phase[w] == GONE)
inline die(w) { deaths++; trust[w] = false; leaveBehind(w); forget(w) }
inline leaveBehind(w) {
  if :: flying[w] -> stray[flight[w]]++; flying[w] = false; flight[w] = 0 :: else -> skip fi
}
inline execute(r) { executed[r]++; assert(executed[r] <= 1 || (wrongly[r] && executed[r] <= 2)) }

#ifdef WITHOUT_SEND_BY
#define mayLeave(w) trust[w]
#else
#ifdef WITHOUT_TRUST
#define mayLeave(w) (!sendByOver[w])
#else
#define mayLeave(w) (!sendByOver[w] && trust[w])
#endif
#endif

/* Workers are alike: whoever claims first is called 0, and so on. */
#define isNext(w) (w == 0 || count[w - 1] > 0)

#define mayClaim(w, r) (phase[w] == IDLE && count[w] < CLAIMS && made < MOST && isNext(w) && db.state[r] == READY && orderAllows(r) && isMember(w) && sameHistory)
inline ask(w, r) { made++; count[w]++; hand[w] = r; tries[w] = db.attempt[r] + 1 }

/* Who has nothing to do need not beat: without that, nothing would ever be over. */
#define isWaiting(r) (db.state[r] == READY && orderAllows(r))
#define mayBeat(w) (!isDead(w) && (phase[w] != IDLE || (made < MOST && (isWaiting(0) || isWaiting(1)))) && !trust[w] && !db.ended[w] && db.timeline == serverTimeline)
#define isOver(r) (db.state[r] == APPROVED || (db.state[r] == READY && (executed[r] == 0 || wrongly[r])))
#define leaseIsOver(w) (db.fenced[w] || db.ended[w])
#define givenUp(w) (db.fenced[w] || db.ended[w])
#ifdef WITHOUT_ANSWER_BY
#define mayBeSwept(w, r) givenUp(w)
#else
#define mayBeSwept(w, r) (givenUp(w) && answerByOver(w, r))
#endif
/* Its own worker has no request of it: sweepForgotten. */
#define isForgotten(w, r) (!givenUp(w) && !isDead(w) && (phase[w] == IDLE || hand[w] != r))

#define isAwaited(w, r) (hand[w] == r && (phase[w] == SENT || phase[w] == ANSWERED) && db.number[r] == count[w])
#ifdef WITHOUT_SWEEP
#define isAbandoned(w, r) false
#else
#define isAbandoned(w, r) (mayBeSwept(w, r) || isForgotten(w, r))
#endif
inline lookAt(r) {
  db.state[r] == SENDING && isAbandoned(db.owner[r], r) ->
    assert(!isAwaited(db.owner[r], r)); unclaim(r, IN_DOUBT)
}
/* A person finds out, when nothing of the row can be under way any more. */
inline resolve(r) {
  db.state[r] == IN_DOUBT && isQuiet(r) -> if :: executed[r] > 0 -> unclaim(r, APPROVED) :: else -> unclaim(r, READY) fi
}
inline resolveWrongly(r) {
  db.state[r] == IN_DOUBT && isQuiet(r) && executed[r] == 1 && !told[r] && mistakes < MISTAKES -> mistakes++; wrongly[r] = true; unclaim(r, READY)
}

inline copyRow(to, from, r) {
  to.state[r] = from.state[r]; to.attempt[r] = from.attempt[r]; to.owner[r] = from.owner[r]; to.number[r] = from.number[r];
  to.restored[r] = from.restored[r]; to.warned[r] = from.warned[r]
}
inline copyWorker(to, from, w) {
  to.transactor[w] = from.transactor[w]; to.fenced[w] = from.fenced[w]; to.ended[w] = from.ended[w]
}
inline copy(to, from) {
  copyRow(to, from, 0); copyRow(to, from, 1); copyWorker(to, from, 0); copyWorker(to, from, 1); copyWorker(to, from, 2)
}
inline emptyRow(l, r) { l.state[r] = 0; l.attempt[r] = 0; l.owner[r] = 0; l.number[r] = 0; l.restored[r] = false; l.warned[r] = false }
inline emptyWorker(l, w) { l.transactor[w] = 0; l.fenced[w] = false; l.ended[w] = false }
inline clear(l) { emptyRow(l, 0); emptyRow(l, 1); emptyWorker(l, 0); emptyWorker(l, 1); emptyWorker(l, 2) }

#ifdef WITHOUT_DOUBTS
#define isOpen(r) false
#else
#define isOpen(r) (db.state[r] == READY || db.state[r] == SENDING)
#endif
inline bringIntoDoubt(r) { db.restored[r] = true; if :: isOpen(r) -> unclaim(r, IN_DOUBT) :: else -> skip fi }

proctype worker(byte w) {
end:
  do
  /* groupOf: one transaction, beside others. Its COMMIT is answered, or the answer is lost, or it was not committed and nobody knows. */
  :: d_step { mayClaim(w, 0) -> ask(w, 0); write(w, 0); phase[w] = CLAIMED }
  :: d_step { mayClaim(w, 0) -> ask(w, 0); write(w, 0); phase[w] = ASKING }
  :: d_step { mayClaim(w, 0) -> ask(w, 0); phase[w] = ASKING }
  :: d_step { mayClaim(w, 1) -> ask(w, 1); write(w, 1); phase[w] = CLAIMED }
  :: d_step { mayClaim(w, 1) -> ask(w, 1); write(w, 1); phase[w] = ASKING }
  :: d_step { mayClaim(w, 1) -> ask(w, 1); phase[w] = ASKING }

  /* howItEnded: the row of the transactor tells. Nothing is concluded before. */
  :: d_step { phase[w] == ASKING ->
#ifdef WITHOUT_ASKING
      phase[w] = CLAIMED
#else
      if :: db.transactor[w] == count[w] -> phase[w] = CLAIMED :: else -> phase[w] = IDLE; forget(w) fi
#endif
  }

  /* fence: the last look before the first byte. */
  :: d_step { phase[w] == CLAIMED ->
      if
      :: mayLeave(w) ->
        assert(!isUnderWay(1 - hand[w]) && (serverTimeline == 1 || !leaseIsOver(w)));
        phase[w] = SENT; flying[w] = true; flight[w] = hand[w]
      :: else -> phase[w] = UNSENT
      fi }

  /* The gateway executes it or does not, and the answer comes or does not. */
  :: d_step { phase[w] == SENT && flying[w] -> flying[w] = false; flight[w] = 0; execute(hand[w]); phase[w] = ANSWERED }
  :: d_step { phase[w] == SENT && flying[w] -> flying[w] = false; flight[w] = 0; execute(hand[w]); phase[w] = UNANSWERED }
  :: d_step { phase[w] == SENT && flying[w] -> flying[w] = false; flight[w] = 0; phase[w] = UNANSWERED }
  /* The time-out: the request may be executed later. */
  :: d_step { phase[w] == SENT && sendByOver[w] -> phase[w] = UNANSWERED; leaveBehind(w) }

  /* settle */
  :: d_step { phase[w] == ANSWERED ->
      if
      :: isOwn(w) || isLate(w) -> assert(executed[hand[w]] > 0); unclaim(hand[w], APPROVED)
      :: else -> keepLateAnswer(hand[w])
      fi; phase[w] = IDLE; forget(w) }
  :: d_step { phase[w] == UNSENT ->
      if :: isOwn(w) || isLate(w) -> release(hand[w]) :: else -> skip fi; phase[w] = IDLE; forget(w) }
  :: d_step { phase[w] == UNANSWERED ->
      if :: isOwn(w) -> unclaim(hand[w], IN_DOUBT) :: else -> skip fi; phase[w] = IDLE; forget(w) }

  /* beat: renews the lease; the trust counts from before the question, so it ends first. Where its answer is lost, the lease alone. */
  :: d_step { mayBeat(w) -> db.fenced[w] = false; trust[w] = true }
  :: d_step { mayBeat(w) && db.fenced[w] -> db.fenced[w] = false }
  /* Another process ended it, or a person adopted: it joins anew. */
  :: d_step { phase[w] == IDLE && db.ended[w] && db.timeline == serverTimeline ->
      db.ended[w] = false; db.fenced[w] = false; trust[w] = true }

  /* Time */
  :: d_step { trust[w] -> trust[w] = false }
  :: d_step { !sendByOver[w] && phase[w] != IDLE && !isDead(w) -> sendByOver[w] = true }

  /* GIVE_UP: when its lease is over, which is after its trust. */
  :: d_step { !trust[w] && !db.fenced[w] && !db.ended[w] -> db.fenced[w] = true }

#if DEATHS > 0
  /* A process dies. Another comes to its place, where kernel and place prove that the first one is dead; or its host never comes back. */
  :: d_step { !isDead(w) && deaths < DEATHS -> die(w); phase[w] = DEAD }
  :: d_step { !isDead(w) && deaths < DEATHS -> die(w); phase[w] = GONE }
  :: d_step { phase[w] == DEAD && db.timeline == serverTimeline ->
      if :: db.owner[0] == w && db.state[0] == SENDING -> unclaim(0, IN_DOUBT) :: else -> skip fi;
      if :: db.owner[1] == w && db.state[1] == SENDING -> unclaim(1, IN_DOUBT) :: else -> skip fi;
      phase[w] = IDLE; db.ended[w] = false; db.fenced[w] = false; trust[w] = true }
#endif
  od
}

proctype others() {
end:
  do
  /* What nobody waits for any more may be executed all the same, or never. */
  :: d_step { stray[0] > 0 -> stray[0]--; execute(0) }
  :: d_step { stray[0] > 0 -> stray[0]-- }
  :: d_step { stray[1] > 0 -> stray[1]--; execute(1) }
  :: d_step { stray[1] > 0 -> stray[1]-- }
  /* sweepLost, sweepForgotten: alone in the ledger. */
  :: d_step { lookAt(0) }
  :: d_step { lookAt(1) }
  :: d_step { resolve(0) }
  :: d_step { resolve(1) }
#if MISTAKES > 0
  :: d_step { resolveWrongly(0) }
  :: d_step { resolveWrongly(1) }
#endif
  /* A standby that lags takes over: what was committed since is lost, and the timeline is another. */
  :: d_step { !taken && serverTimeline == 0 -> taken = true; copy(replica, db) }
  :: d_step { taken && serverTimeline == 0 -> serverTimeline = 1; copy(db, replica); clear(replica) }
  /* adopt, as restored: nobody's lease lasts. Every worker that was known is ended; whatever is open comes into doubt. */
  :: d_step { db.timeline != serverTimeline && leaseIsOver(0) && leaseIsOver(1) && leaseIsOver(2) ->
      bringIntoDoubt(0); bringIntoDoubt(1);
      db.timeline = serverTimeline; db.ended[0] = true; db.ended[1] = true; db.ended[2] = true }
  /* When nothing can happen any more, nothing is left on its way or in doubt, and what was executed does not wait to be sent. */
  :: timeout -> assert(isOver(0) && isOver(1)); break
  od
}

init {
  d_step {
    db.state[0] = READY; db.state[1] = READY; db.owner[0] = W; db.owner[1] = W;
    phase[0] = IDLE; phase[1] = IDLE; phase[2] = IDLE;
    trust[0] = true; trust[1] = true; trust[2] = true
  }
  atomic { run worker(0); run worker(1); run worker(2); run others() }
}
