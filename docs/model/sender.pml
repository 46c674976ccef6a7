/*
 * One sender for an account: two workers, two rows of one account, on one ledger in PostgreSQL. README.md says what is assumed, and how
 * to run it. Each step is one transaction of the ledger, or one step of a worker's ledger thread or main thread. -DWITHOUT_… takes a
 * guard out.
 */

#define W 2
#define R 2
#define NOBODY W
#ifndef MOST
#define MOST 2      /* claims, of both workers together */
#endif
#ifndef IN_FLIGHT
#define IN_FLIGHT 2 /* rows that may be open, those claimed ahead included */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef LAPSES
#define LAPSES 1    /* times that the lease of a live sender runs out */
#endif
#ifndef LEAVES
#define LEAVES 0    /* times that a sender gives its account back */
#endif
#ifndef LOST
#define LOST 1      /* COMMITs that are not answered */
#endif
#ifndef RESUMES
#define RESUMES 0   /* times that a person resumes what was paused */
#endif
/* Further bounds: FAILOVER (a lagging standby takes over), CANCEL or PAUSE (a person stops the batch; with TWO_BATCHES, each row is a batch
   of its own, and a second person stops the other), BRAKE (the first answer stops it), QUIT (a worker is asked to end), SAME_ORDER (both
   rows belong to one order), TORN (a page of an older state comes back), STILL (no time passes). */
#if defined(CANCEL) || defined(PAUSE)
#define STOPS
#endif
#ifdef TWO_BATCHES
#define BATCHES 2
#define batchOf(r) (r)
#else
#define BATCHES 1
#define batchOf(r) 0
#endif

mtype = { READY, SENDING, IN_DOUBT, APPROVED, CANCELLED }
mtype = { TAKEN, AHEAD, SENT, ANSWERED, UNANSWERED, UNSENT, BACK }
mtype = { OPEN, ASKING }
mtype = { ALIVE, DEAD, GONE }
#define NONE 0

/* ── The ledger, as the server has it ── */
typedef Ledger {
  mtype state[R];
  byte attempt[R];  /* the last one that counts */
  byte ended[R];    /* the last one that has an entry in the history, other than a claim given back before its fence */
  byte claim[R];    /* the random number of the claim; 0: none, or forgotten */
  byte term[R];     /* of the claim */
  byte maker[R];    /* who made it: the model's own, since the record has the term */
  byte owner;       /* the sender of the account */
  byte lastTerm;
  bool over;        /* its lease, by the server's clock */
  bool held[BATCHES]; /* stopped */
  byte hold;        /* the highest number of a command that stopped a batch */
  byte seen;        /* holds_seen: of the last one whose rows the sender has given back */
  bool has[W];      /* the group whose COMMIT the worker waits for is part of this state */
  bit timeline      /* that the ledger remembers */
};
Ledger db;
Ledger replica;     /* what a standby has: an earlier state, once it was taken */
bool taken;
bit serverTimeline;

/* ── Each worker ── */
mtype life[W];
mtype group[W];     /* of its ledger thread: none, begun and perhaps committed, or to be looked for */
byte myTerm[W];
bool trust[W];      /* its own measure of its lease, which ends first */
bool rests[W];      /* that measure may be from before the failover: an adoption waits for a whole lease */
byte ownTerm[W];    /* the term that its place had, when it took that over */
byte told[W];       /* the stop of the last message to the main thread that names what is held */
bool acted[W];      /* the main thread has acted on that message */
byte seeing[W];     /* what the open group writes as holds_seen */
bool sharing[W];    /* the open group holds the key of `sender` */
bool brake[W];      /* in the memory that both threads share: an answer has stopped the batch */

/* What it has in hand of each row: H(w, r). What waits for a group survives a death where it is kept on disk. */
#define H(w, r) ((w) * R + (r))
mtype hand[W * R];
byte claimIn[W * R]; /* the number of the claim */
#ifdef WITHOUT_CLAIM
byte attemptIn[W * R];
#endif
bool late[W * R];    /* its send-by is over, by the clocks of all */
#ifdef WITHOUT_BEGIN
bool counted[W * R]; /* the worker knows of that */
#endif
bool inGroup[W * R]; /* the open group settles it */
bool named[W * R];   /* in the message, as held */

/* ── The gateway's own book, and what people did ── */
byte executed[R];
byte stray[R];      /* requests that nobody waits for any more */
byte made;          /* claims */
byte deaths;
byte lapses;
byte resumes;
byte leaves;
byte lost;          /* COMMITs without an answer */
byte command[BATCHES]; /* 1: committed; 2: told to the person */
byte number[BATCHES];  /* of the command */
#ifdef WITHOUT_NUMBERED
byte lastNumber;
#endif
bool stopped[W];    /* it committed a stop by its own answer */
bool torn;
bool quit;
bool anyTaken;

#define isAlive(w) (life[w] == ALIVE)
#define isSender(w) (isAlive(w) && db.owner == w && db.lastTerm == myTerm[w])

#define isHeld(r) db.held[batchOf(r)]
#define isStopped(r) (command[batchOf(r)] == 2)

/* ── What a group may claim ── */
#ifdef WITHOUT_TIMELINE
#define sameHistory true
#else
#define sameHistory (db.timeline == serverTimeline)
#endif
#if defined(SAME_ORDER) && !defined(WITHOUT_ORDER)
#define orderAllows(r) (db.state[1 - r] != SENDING && db.state[1 - r] != IN_DOUBT && (r == 0 || db.state[0] != READY))
#else
#define orderAllows(r) true
#endif
/* No entry of this attempt, other than claims that were given back. */
#ifdef WITHOUT_ENTRY
#define isNew(r) true
#else
#define isNew(r) (db.attempt[r] >= db.ended[r])
#endif
#define isDue(r) (db.state[r] == READY && !isHeld(r) && orderAllows(r) && isNew(r) && made < MOST)
#ifdef WITHOUT_ALL_TERMS
#define takesRoom(w, r) (db.state[r] == SENDING && db.term[r] == db.lastTerm)
#else
#ifdef WITHOUT_AHEAD
#define takesRoom(w, r) (db.state[r] == SENDING && hand[H(w, r)] != AHEAD)
#else
#define takesRoom(w, r) (db.state[r] == SENDING)
#endif
#endif
/* Rows are alike: the first one that is claimed is called 0. */
#define mayClaim(w, r) (isSender(w) && sameHistory && isDue(r) && hand[H(w, r)] == NONE && (r == 0 || made > 0) && takesRoom(w, 1 - r) + 1 <= IN_FLIGHT)
#ifdef SAME_ORDER
#define mayClaimBoth(w) false
#else
#define mayClaimBoth(w) (isSender(w) && sameHistory && isDue(0) && isDue(1) && hand[H(w, 0)] == NONE && hand[H(w, 1)] == NONE && made + 2 <= MOST && IN_FLIGHT >= 2)
#endif

/* ── Whose claim it is ── */
#ifdef WITHOUT_CLAIM
#define isMine(h, r) (db.attempt[r] == attemptIn[h])
#else
#define isMine(h, r) (db.claim[r] == claimIn[h])
#endif
#define isOpen(r) (db.state[r] == SENDING || db.state[r] == IN_DOUBT)

/* ── Time ── */
/* Nobody who waits for an answer of the claim gets one any more. */
#define isInHand(w, r) (isAlive(w) && hand[H(w, r)] != NONE && claimIn[H(w, r)] == db.claim[r])
#define isAwaited(w, r) (isInHand(w, r) && hand[H(w, r)] == SENT)
#ifdef STILL
#define answerByOver(w, r) false
#else
#ifdef WITHOUT_ANSWER_BY
#define answerByOver(w, r) true
#else
#define answerByOver(w, r) (!isInHand(w, r) || hand[H(w, r)] == UNANSWERED || (late[H(w, r)] && hand[H(w, r)] != SENT))
#endif
#endif
#ifdef WITHOUT_SWEEP
#define isSwept(w, r) false
#else
#ifdef WITHOUT_OWN_TERM
#define isOfOwnPlace(w, r) (ownTerm[w] != 0)
#else
#define isOfOwnPlace(w, r) (ownTerm[w] != 0 && db.term[r] == ownTerm[w])
#endif
#define isSwept(w, r) (isSender(w) && db.state[r] == SENDING && db.term[r] != db.lastTerm && (isOfOwnPlace(w, r) || answerByOver(db.maker[r], r)))
#endif
/* Nobody can send the row any more, and nothing of it is on its way: the rest of a doubt is longer than all of these. */
#define mayStillSend(w, r) (isAlive(w) && (hand[H(w, r)] == TAKEN || hand[H(w, r)] == AHEAD) && !late[H(w, r)])
#define isQuietAt(w, r) (!mayStillSend(w, r) && hand[H(w, r)] != SENT)
#define isQuiet(r) (isQuietAt(0, r) && isQuietAt(1, r) && stray[r] == 0)

/* ── Moves of a row ── */
inline forgetClaim(r) { db.claim[r] = 0; db.term[r] = 0; db.maker[r] = NOBODY }
inline drop(h) {
  hand[h] = NONE; claimIn[h] = 0; late[h] = false; inGroup[h] = false; named[h] = false;
#ifdef WITHOUT_CLAIM
  attemptIn[h] = 0;
#endif
#ifdef WITHOUT_BEGIN
  counted[h] = false
#else
  skip
#endif
}
/* Due again; of a cancelled batch, cancelled. */
inline release(r) {
  forgetClaim(r);
#ifdef CANCEL
  if :: isHeld(r) -> db.state[r] = CANCELLED :: else -> db.state[r] = READY fi
#else
  db.state[r] = READY
#endif
}
inline write(w, r) {
  assert(db.owner == w);
  assert(!isStopped(r));
  assert(torn || db.attempt[r] == db.ended[r]);
  db.state[r] = SENDING; db.attempt[r]++; db.claim[r] = claimIn[H(w, r)]; db.term[r] = db.lastTerm; db.maker[r] = w
}
inline settle(w, r, h) {
  if
  :: hand[h] == ANSWERED ->
    if
    :: isOpen(r) && isMine(h, r) ->
      assert(executed[r] > 0); db.state[r] = APPROVED; db.ended[r] = db.attempt[r]; forgetClaim(r);
#ifdef BRAKE
      db.held[0] = true; stopped[w] = true
#endif
    /* An answer that settles nothing is kept beside the row; what waits to be sent is stopped. */
    :: !(isOpen(r) && isMine(h, r)) && db.state[r] == READY -> db.state[r] = IN_DOUBT; db.ended[r] = db.attempt[r]
    :: else -> skip
    fi
  :: hand[h] == UNANSWERED ->
    if :: db.state[r] == SENDING && isMine(h, r) -> db.state[r] = IN_DOUBT; db.ended[r] = db.attempt[r] :: else -> skip fi
  :: hand[h] == UNSENT ->
    if :: isOpen(r) && isMine(h, r) -> db.ended[r] = db.attempt[r]; release(r) :: else -> skip fi
  /* Its fence was not asked: the attempt keeps its number, unless the history has an entry of it. */
  :: hand[h] == BACK ->
    if
    :: isOpen(r) && isMine(h, r) ->
#ifndef WITHOUT_NUMBER
#ifdef WITHOUT_DOUBTED
      db.attempt[r]--;
#else
      if :: db.ended[r] < db.attempt[r] -> db.attempt[r]-- :: else -> skip fi;
#endif
#endif
      release(r)
    :: else -> skip
    fi
  :: else -> skip
  fi
}
#ifdef WITHOUT_MAIN
/* The ledger thread gives back by its own clock what has not started as far as it knows. */
#define isGivenBack(h) (hand[h] == AHEAD && inGroup[h])
#else
#define isGivenBack(h) false
#endif

/* ── A group: settle what has arrived, claim, COMMIT, one message ── */
#define hasArrived(h) (hand[h] == ANSWERED || hand[h] == UNANSWERED || hand[h] == UNSENT || hand[h] == BACK)
#define accountIsFree (group[0] != OPEN && group[1] != OPEN)
#ifdef WITHOUT_SEEN_TERM
#define speaksForAll(w) isAlive(w)
#else
#ifdef WITHOUT_SEEN_HISTORY
#define speaksForAll(w) isSender(w)
#else
#define speaksForAll(w) (isSender(w) && db.timeline == serverTimeline)
#endif
#endif
#ifdef TWO_BATCHES
#define anyHeld (db.held[0] || db.held[1])
#else
#define anyHeld db.held[0]
#endif
#ifdef WITHOUT_NAMED
#define newlySeen(w) (anyHeld && speaksForAll(w) -> db.hold : 0)
#else
#define newlySeen(w) (acted[w] && speaksForAll(w) -> told[w] : 0)
#endif
#define isToBeNamed(h, r) (hand[h] == AHEAD && isHeld(r) && !named[h])
#define hasToName(w) (anyHeld && (told[w] < db.hold || isToBeNamed(H(w, 0), 0) || isToBeNamed(H(w, 1), 1)))
#ifdef STOPS
#define hasHoldsToRead(w) (speaksForAll(w) && (hasToName(w) || newlySeen(w) > db.seen))
#else
#define hasHoldsToRead(w) false
#endif
#ifdef WITHOUT_ANYONE
#define brings(w) ((hasArrived(H(w, 0)) || hasArrived(H(w, 1))) && isSender(w))
#else
#define brings(w) (hasArrived(H(w, 0)) || hasArrived(H(w, 1)))
#endif
#ifdef WITHOUT_MAIN
#define hasWork(w) (brings(w) || isSwept(w, 0) || isSwept(w, 1) || hasHoldsToRead(w) || hand[H(w, 0)] == AHEAD || hand[H(w, 1)] == AHEAD)
#else
#define hasWork(w) (brings(w) || isSwept(w, 0) || isSwept(w, 1) || hasHoldsToRead(w))
#endif
#define mayBegin(w) (isAlive(w) && group[w] == NONE && accountIsFree)

inline pick(w, r, h) {
  made++; hand[h] = TAKEN; claimIn[h] = made;
#ifdef WITHOUT_CLAIM
  attemptIn[h] = db.attempt[r] + 1
#else
  skip
#endif
}
inline join(w, h) {
  if
  :: hasArrived(h) -> inGroup[h] = true;
#ifdef BRAKE
    if :: hand[h] == ANSWERED -> brake[w] = true :: else -> skip fi
#endif
#ifdef WITHOUT_MAIN
  :: hand[h] == AHEAD -> inGroup[h] = true
#endif
  :: else -> skip
  fi
}
inline begin(w) {
  group[w] = OPEN; sharing[w] = isSender(w); db.has[w] = false; replica.has[w] = false; join(w, H(w, 0)); join(w, H(w, 1));
#ifdef STOPS
  seeing[w] = newlySeen(w)
#else
  skip
#endif
}
inline applyTo(w, r, h) {
  if
  :: hand[h] == TAKEN -> write(w, r)
  :: isGivenBack(h) -> if :: isOpen(r) && isMine(h, r) -> db.attempt[r]--; release(r) :: else -> skip fi
  :: hand[h] != TAKEN && !isGivenBack(h) && inGroup[h] -> settle(w, r, h)
  :: else -> skip
  fi;
  if
  :: isSwept(w, r) -> assert(!isAwaited(db.maker[r], r)); db.state[r] = IN_DOUBT; db.ended[r] = db.attempt[r]
  :: else -> skip
  fi
}
inline apply(w) {
  applyTo(w, 0, H(w, 0)); applyTo(w, 1, H(w, 1)); db.has[w] = true;
  if :: seeing[w] > db.seen -> db.seen = seeing[w] :: else -> skip fi
}
/* What it settled is durable, and what it claimed may leave. */
inline handOver(h) {
  if
  :: hand[h] == TAKEN -> hand[h] = AHEAD
  :: hand[h] != TAKEN && inGroup[h] -> if :: hand[h] == AHEAD || hand[h] == SENT -> inGroup[h] = false :: else -> drop(h) fi
  :: else -> skip
  fi
}
/* The message names what is held, and the main thread gives it back where it has not started. */
inline name(h, r) { if :: hand[h] == AHEAD && isHeld(r) -> named[h] = true :: else -> skip fi }
inline giveBackNamed(h) { if :: hand[h] == AHEAD && named[h] -> hand[h] = BACK; named[h] = false :: else -> skip fi }
inline undo(h) { if :: hand[h] == TAKEN -> drop(h) :: else -> inGroup[h] = false fi }
inline finish(w) { group[w] = NONE; seeing[w] = 0; sharing[w] = false; handOver(H(w, 0)); handOver(H(w, 1)) }
inline abandon(w) { group[w] = NONE; seeing[w] = 0; sharing[w] = false; undo(H(w, 0)); undo(H(w, 1)) }

/* ── The fence, in the main thread ── */
#ifdef WITHOUT_SEND_BY
#define isInTime(h) true
#else
#ifdef WITHOUT_BEGIN
#define isInTime(h) (!counted[h])
#else
#define isInTime(h) (!late[h])
#endif
#endif
#ifdef WITHOUT_TRUST
#define trusts(w) true
#else
#define trusts(w) trust[w]
#endif
#ifdef WITHOUT_SHARED
#define isBraked(w) false
#else
#define isBraked(w) brake[w]
#endif
#define mayLeave(w, h) (isInTime(h) && trusts(w) && !isBraked(w))
#define flying ((hand[0] == SENT) + (hand[1] == SENT) + (hand[2] == SENT) + (hand[3] == SENT))
#define isUnderWay(r) (hand[r] == SENT || hand[R + r] == SENT)
inline leave(w, r, h) {
  assert(!isStopped(r));
  assert(!stopped[w]);
  assert(serverTimeline == 1 || flying < IN_FLIGHT);
#ifdef SAME_ORDER
  assert(!isUnderWay(1 - r));
#endif
  /* What leaves is claimed in the record, under the term that there is: or the record is another one, and not taken over. */
  assert(db.timeline != serverTimeline || (isSender(w) && db.term[r] == myTerm[w] && db.state[r] == SENDING && db.claim[r] == claimIn[h]));
  hand[h] = SENT; named[h] = false
}
inline execute(r) { executed[r]++; assert(executed[r] <= 1); assert(serverTimeline == 1 || db.state[r] != CANCELLED) }

/* ── Being the sender ── */
#define isCalmAt(h) (hand[h] != TAKEN && hand[h] != AHEAD)
#ifdef WITHOUT_CALM
#define isCalm(w) true
#else
#define isCalm(w) (isCalmAt(H(w, 0)) && isCalmAt(H(w, 1)))
#endif
/* A transaction of the sender's holds its key. */
#ifdef WITHOUT_KEY_SHARE
#define keyIsFree true
#else
#define keyIsFree (!(group[0] == OPEN && sharing[0]) && !(group[1] == OPEN && sharing[1]))
#endif
/* It has the lock of the owner's place, whose process is dead. */
#ifdef WITHOUT_PLACE
#define isOwnPlace(w) false
#else
#define isOwnPlace(w) (db.owner == w && myTerm[w] == 0)
#endif
#define isStranded(r) (db.state[r] == SENDING && (!isInHand(db.maker[r], r) || late[H(db.maker[r], r)]))
#define isWanted (isDue(0) || isDue(1) || isStranded(0) || isStranded(1))
#define mayTake(w) (isAlive(w) && group[w] == NONE && !isSender(w) && isCalm(w) && isWanted && db.timeline == serverTimeline && keyIsFree && (w == 0 || anyTaken || !isAlive(0)) && (db.owner == NOBODY || db.over || isOwnPlace(w)))
inline take(w) {
  if :: isOwnPlace(w) -> ownTerm[w] = db.lastTerm :: else -> ownTerm[w] = 0 fi;
  db.lastTerm++; db.owner = w; db.over = false; myTerm[w] = db.lastTerm; trust[w] = true; anyTaken = true;
#ifndef WITHOUT_FORGET
  told[w] = 0; acted[w] = false
#endif
}
#ifdef WITHOUT_RENEW
#define renewsAnywhere true
#else
#define renewsAnywhere (db.timeline == serverTimeline)
#endif
#define mayRenew(w) (isSender(w) && !trust[w] && renewsAnywhere && (isDue(0) || isDue(1) || !isCalmAt(H(w, 0)) || !isCalmAt(H(w, 1))))

#define isLeftBy(w, r) (db.state[r] == SENDING && db.maker[r] == w)

/* ── Deaths ── */
inline dieWith(w, r, h, keeps) {
  if :: hand[h] == SENT -> stray[r]++ :: else -> skip fi;
  if
  :: group[w] == OPEN && (hand[h] == TAKEN || inGroup[h]) -> skip
  :: !(group[w] == OPEN && (hand[h] == TAKEN || inGroup[h])) && keeps && (hand[h] == ANSWERED || hand[h] == UNSENT || hand[h] == BACK) -> inGroup[h] = false
  :: else -> drop(h)
  fi
}
inline die(w, keeps) {
  deaths++; dieWith(w, 0, H(w, 0), keeps); dieWith(w, 1, H(w, 1), keeps);
  myTerm[w] = 0; trust[w] = false; rests[w] = false; ownTerm[w] = 0; told[w] = 0; acted[w] = false; brake[w] = false; stopped[w] = false;
  if :: group[w] == ASKING -> group[w] = NONE; seeing[w] = 0; sharing[w] = false :: else -> skip fi
}

inline copyRow(to, from, r) {
  to.state[r] = from.state[r]; to.attempt[r] = from.attempt[r]; to.ended[r] = from.ended[r]; to.claim[r] = from.claim[r]; to.term[r] = from.term[r];
  to.maker[r] = from.maker[r]
}
#ifdef TWO_BATCHES
inline copyHolds(to, from) { to.held[0] = from.held[0]; to.held[1] = from.held[1] }
inline clearHolds(l) { l.held[0] = false; l.held[1] = false }
#else
inline copyHolds(to, from) { to.held[0] = from.held[0] }
inline clearHolds(l) { l.held[0] = false }
#endif
inline copy(to, from) {
  copyRow(to, from, 0); copyRow(to, from, 1); to.owner = from.owner; to.lastTerm = from.lastTerm; to.over = from.over;
  copyHolds(to, from); to.hold = from.hold; to.seen = from.seen; to.has[0] = from.has[0]; to.has[1] = from.has[1]
}
inline clearRow(l, r) { l.state[r] = 0; l.attempt[r] = 0; l.ended[r] = 0; l.claim[r] = 0; l.term[r] = 0; l.maker[r] = 0 }
inline clear(l) {
  clearRow(l, 0); clearRow(l, 1); l.owner = 0; l.lastTerm = 0; l.over = false; clearHolds(l); l.hold = 0; l.seen = 0; l.has[0] = false; l.has[1] = false
}
inline adoptRow(r) {
#ifndef WITHOUT_DOUBTS
  if :: db.state[r] == READY || db.state[r] == SENDING -> db.state[r] = IN_DOUBT; db.ended[r] = db.attempt[r] :: else -> skip fi;
#endif
#ifdef WITHOUT_RESTORED
  skip
#else
  forgetClaim(r)
#endif
}

proctype worker(byte w) {
end:
  do
  /* Claims several ahead, one, or none. */
  :: d_step { mayBegin(w) && mayClaim(w, 0) -> pick(w, 0, H(w, 0)); begin(w) }
  :: d_step { mayBegin(w) && mayClaim(w, 1) -> pick(w, 1, H(w, 1)); begin(w) }
  :: d_step { mayBegin(w) && mayClaimBoth(w) -> pick(w, 0, H(w, 0)); pick(w, 1, H(w, 1)); begin(w) }
  :: d_step { mayBegin(w) && hasWork(w) -> begin(w) }
  /* COMMIT is answered. The message names what is held. */
  :: d_step { group[w] == OPEN && isAlive(w) -> apply(w); finish(w);
#ifdef STOPS
      if :: hasToName(w) -> told[w] = db.hold; acted[w] = false; name(H(w, 0), 0); name(H(w, 1), 1) :: else -> skip fi
#endif
  }
  /* COMMIT is not answered: it was made, or not. A dead worker's may be made after its death. */
  :: d_step { group[w] == OPEN && (lost < LOST || !isAlive(w)) -> lost = lost + isAlive(w); apply(w);
      if :: isAlive(w) -> group[w] = ASKING :: else -> abandon(w) fi }
  :: d_step { group[w] == OPEN && (lost < LOST || !isAlive(w)) -> lost = lost + isAlive(w);
      if :: isAlive(w) -> group[w] = ASKING :: else -> abandon(w) fi }
  /* howItEnded: looked for under the account's lock. Nothing is concluded before. */
  :: d_step { group[w] == ASKING && accountIsFree ->
#ifdef WITHOUT_ASKING
      finish(w)
#else
      if :: db.has[w] -> finish(w) :: else -> abandon(w) fi
#endif
  }

  /* fence: the last look before the first byte. */
  :: d_step { hand[H(w, 0)] == AHEAD -> if :: mayLeave(w, H(w, 0)) -> leave(w, 0, H(w, 0)) :: else -> hand[H(w, 0)] = UNSENT; named[H(w, 0)] = false fi }
  :: d_step { hand[H(w, 1)] == AHEAD -> if :: mayLeave(w, H(w, 1)) -> leave(w, 1, H(w, 1)) :: else -> hand[H(w, 1)] = UNSENT; named[H(w, 1)] = false fi }
#ifdef STOPS
  /* The main thread gives back what the message named and what has not started. */
  :: d_step { told[w] > 0 && !acted[w] && isAlive(w) -> acted[w] = true; giveBackNamed(H(w, 0)); giveBackNamed(H(w, 1)) }
#endif
  /* Or what would wait too long: the window has closed, or the process is asked to end. */
  :: d_step { isAlive(w) && hand[H(w, 0)] == AHEAD -> hand[H(w, 0)] = BACK; named[H(w, 0)] = false }
  :: d_step { isAlive(w) && hand[H(w, 1)] == AHEAD -> hand[H(w, 1)] = BACK; named[H(w, 1)] = false }

  /* take, renew, and give back: the row `sender` alone. */
  :: d_step { mayTake(w) -> take(w) }
  :: d_step { mayRenew(w) -> db.over = false; trust[w] = true }
#ifdef QUIT
  /* SIGTERM: it ends when all that it had in hand is durably given back or settled. */
#ifdef WITHOUT_QUIT
  :: d_step { isAlive(w) && !quit && group[w] == NONE && hand[H(w, 0)] != SENT && hand[H(w, 1)] != SENT ->
#else
  :: d_step { isAlive(w) && !quit && group[w] == NONE && hand[H(w, 0)] == NONE && hand[H(w, 1)] == NONE ->
#endif
      if :: isSender(w) -> db.owner = NOBODY; db.over = false :: else -> skip fi;
      assert(!isLeftBy(w, 0) && !isLeftBy(w, 1));
      quit = true; life[w] = GONE; drop(H(w, 0)); drop(H(w, 1)); myTerm[w] = 0; trust[w] = false; rests[w] = false; ownTerm[w] = 0; told[w] = 0; acted[w] = false }
#endif
#if LEAVES > 0
  :: d_step { isSender(w) && group[w] == NONE && leaves < LEAVES && db.timeline == serverTimeline ->
      leaves++; db.owner = NOBODY; db.over = false; myTerm[w] = 0; ownTerm[w] = 0;
#ifndef WITHOUT_ENDS
      trust[w] = false
#endif
    }
#endif

#ifndef STILL
  :: d_step { trust[w] -> trust[w] = false; rests[w] = false }
  :: d_step { isSender(w) && !trust[w] && !db.over && lapses < LAPSES -> lapses++; db.over = true }
#endif

#if DEATHS > 0
  /* A process dies, and another comes to its place; or its host never comes back. */
  :: d_step { isAlive(w) && deaths < DEATHS -> die(w, true); life[w] = DEAD }
  :: d_step { isAlive(w) && deaths < DEATHS && (hasArrived(H(w, 0)) || hasArrived(H(w, 1))) -> die(w, false); life[w] = DEAD }
#ifndef STILL
  :: d_step { isAlive(w) && deaths < DEATHS -> die(w, false); life[w] = GONE }
  :: d_step { !isAlive(w) && db.owner == w && !db.over -> db.over = true }
#endif
  :: d_step { life[w] == DEAD && group[w] == NONE -> life[w] = ALIVE }
  :: d_step { life[w] == GONE && group[w] == NONE && (hand[H(w, 0)] != NONE || hand[H(w, 1)] != NONE) -> drop(H(w, 0)); drop(H(w, 1)) }
#endif
  od
}

/* A request and its claim, in the hand of w. */
proctype request(byte w, r, h) {
end:
  do
  /* The gateway executes it or does not, and the answer comes or does not. */
  :: d_step { hand[h] == SENT -> execute(r); hand[h] = ANSWERED }
  :: d_step { hand[h] == SENT -> execute(r); hand[h] = UNANSWERED; late[h] = false }
  :: d_step { hand[h] == SENT -> hand[h] = UNANSWERED; late[h] = false }
#ifndef STILL
  /* The time-out: the request may be executed later. */
  :: d_step { hand[h] == SENT && late[h] -> stray[r]++; hand[h] = UNANSWERED; late[h] = false }
  /* Send-by is counted from before BEGIN. */
  :: d_step { isAlive(w) && !late[h] && (hand[h] == TAKEN || hand[h] == AHEAD || hand[h] == SENT || hand[h] == ANSWERED) -> late[h] = true;
#ifdef WITHOUT_BEGIN
      if :: hand[h] != TAKEN -> counted[h] = true :: else -> skip fi
#endif
    }
#ifdef WITHOUT_BEGIN
  :: d_step { late[h] && !counted[h] && hand[h] == SENT -> counted[h] = true }
#endif
#endif
  od
}

/* By the server's clock: what has been claimed, and whose send-by is not over. */
#define mayStillLeave(r) (db.state[r] == SENDING && !(isAlive(db.maker[r]) && late[H(db.maker[r], r)]))
/* A command that holds commits, under the account's lock, where it also gets its number; then it waits for the sender, or finds that nothing
   claimed can leave. */
#ifdef WITHOUT_ACCOUNT
#define accountAllows true
#else
#define accountAllows accountIsFree
#endif
#ifdef WITHOUT_NUMBERED
#define mayHold(b) (command[b] == 0 && accountAllows && db.timeline == serverTimeline && number[b] > 0)
inline numberIt(b) { skip }
#else
#define mayHold(b) (command[b] == 0 && accountAllows && db.timeline == serverTimeline)
inline numberIt(b) { number[b] = db.hold + 1 }
#endif
inline stopBatch(b) { command[b] = 1; db.held[b] = true; if :: number[b] > db.hold -> db.hold = number[b] :: else -> skip fi }
#ifdef CANCEL
inline cancelRow(r) { if :: db.state[r] == READY -> db.state[r] = CANCELLED :: else -> skip fi }
#else
inline cancelRow(r) { skip }
#endif
#ifdef WITHOUT_SEEN
#define hasSeen(b) true
#else
#ifdef WITHOUT_PAST
#define hasSeen(b) (db.seen > 0)
#else
#define hasSeen(b) (db.seen >= number[b])
#endif
#endif
#ifdef CANCEL
#define mayWait(r) (made >= MOST && !isHeld(r))
#else
#define mayWait(r) (made >= MOST || isHeld(r))
#endif
#define isOver(r) (db.state[r] == APPROVED || db.state[r] == CANCELLED || (db.state[r] == READY && ((executed[r] == 0 && mayWait(r)) || torn)))

proctype others() {
end:
  do
  /* What nobody waits for any more may be executed all the same, or never. */
  :: d_step { stray[0] > 0 -> stray[0]--; execute(0) }
  :: d_step { stray[0] > 0 -> stray[0]-- }
  :: d_step { stray[1] > 0 -> stray[1]--; execute(1) }
  :: d_step { stray[1] > 0 -> stray[1]-- }
  /* A person finds out, when nothing of the row can be under way any more. */
  :: d_step { db.state[0] == IN_DOUBT && isQuiet(0) -> if :: executed[0] > 0 -> db.state[0] = APPROVED; forgetClaim(0) :: else -> release(0) fi }
  :: d_step { db.state[1] == IN_DOUBT && isQuiet(1) -> if :: executed[1] > 0 -> db.state[1] = APPROVED; forgetClaim(1) :: else -> release(1) fi }
#ifdef STOPS
#ifdef TWO_BATCHES
  :: d_step { mayHold(0) -> numberIt(0); stopBatch(0); cancelRow(0) }
  :: d_step { mayHold(1) -> numberIt(1); stopBatch(1); cancelRow(1) }
  :: d_step { command[0] == 1 && (hasSeen(0) || !mayStillLeave(0)) -> command[0] = 2 }
  :: d_step { command[1] == 1 && (hasSeen(1) || !mayStillLeave(1)) -> command[1] = 2 }
#ifdef WITHOUT_NUMBERED
  :: d_step { number[0] == 0 -> lastNumber++; number[0] = lastNumber }
  :: d_step { number[1] == 0 -> lastNumber++; number[1] = lastNumber }
#endif
#else
  :: d_step { mayHold(0) -> numberIt(0); stopBatch(0); cancelRow(0); cancelRow(1) }
  :: d_step { command[0] == 1 && (hasSeen(0) || (!mayStillLeave(0) && !mayStillLeave(1))) -> command[0] = 2 }
#if RESUMES > 0
  :: d_step { command[0] > 0 && accountIsFree && resumes < RESUMES -> resumes++; command[0] = 0; db.held[0] = false }
#endif
#endif
#endif
#ifdef TORN
  /* An older page of `due` comes back: a row that has ended is due again. */
  :: d_step { !torn && db.state[0] == APPROVED -> torn = true; db.state[0] = READY; db.attempt[0]-- }
#endif
#ifdef FAILOVER
  /* A standby that lags takes over: what was committed since is lost, and the timeline is another. */
  :: d_step { !taken && made > 0 -> taken = true; copy(replica, db) }
  :: d_step { taken && serverTimeline == 0 -> serverTimeline = 1; copy(db, replica); clear(replica); rests[0] = trust[0]; rests[1] = trust[1];
      if :: group[0] == OPEN -> group[0] = ASKING :: else -> skip fi;
      if :: group[1] == OPEN -> group[1] = ASKING :: else -> skip fi;
      if :: command[0] == 1 -> command[0] = 0 :: else -> skip fi }
  /* adopt, as restored, after a lease: nobody is the sender, whatever is open comes into doubt, and its claim is forgotten. */
  :: d_step { db.timeline != serverTimeline && !rests[0] && !rests[1] && accountIsFree ->
      adoptRow(0); adoptRow(1); db.timeline = serverTimeline; db.owner = NOBODY; db.over = false;
      db.held[0] = false; command[0] = 0; number[0] = 0 }
#endif
  /* When nothing can happen any more, nothing is left in anyone's hand, on its way or in doubt, and nothing waits that could be sent. */
  :: timeout -> assert(isOver(0)); assert(isOver(1)); assert(hand[0] == NONE && hand[1] == NONE && hand[2] == NONE && hand[3] == NONE); break
  od
}

init {
  d_step {
    db.state[0] = READY; db.state[1] = READY; db.owner = NOBODY; db.maker[0] = NOBODY; db.maker[1] = NOBODY; life[0] = ALIVE; life[1] = ALIVE
  }
  atomic {
    run worker(0); run worker(1); run others();
    run request(0, 0, 0); run request(0, 1, 1); run request(1, 0, 2); run request(1, 1, 3)
  }
}
