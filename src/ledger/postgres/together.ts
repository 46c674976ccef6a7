// Several statements in one message. The server answers them one by one and begins none behind one that fails: it reads on at the next
// message. Each is a query of `pg`, which sends and reads its own part; what ends a message is sent once, behind the last.

import { type Connection, Query, type QueryConfig, type QueryResult, type Submittable } from 'pg'

/** What `pg` asks of whatever reads the answers that come on a connection. */
interface Reading extends Submittable {
  readonly name?: string
  readonly text: string
  submit(connection: Connection): Error | null
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
  handleError(error: Error, connection: Connection): void
}

/** It notes by their names what the server was sent, and forgets what the server then took. */
interface Noting extends Connection {
  readonly submittedNamedStatements: Record<string, string>
}

/** For `client.query`, once. */
export class Together implements Submittable {
  readonly #queries: readonly Reading[]
  readonly #found: QueryResult[] = []
  readonly #done = Promise.withResolvers<readonly QueryResult[]>()
  #failure: Error | null = null
  #answered = 0

  constructor(asked: readonly QueryConfig[]) {
    this.#queries = asked.map((one, i) => {
      const told = (error: Error | null | undefined, result: unknown) => {
        if (error) this.#failure ??= error
        else this.#found[i] = result as QueryResult
      }
      return new Query({ ...one, queryMode: 'extended' } as QueryConfig, told) as unknown as Reading
    })
  }

  /** In the order of the statements. Rejects with what the first that failed met. */
  get results(): Promise<readonly QueryResult[]> {
    return this.#done.promise
  }

  /** So many of them, from the first on, are known to be carried out. */
  get answered(): number {
    return this.#answered
  }

  /** Of the statement whose answer comes next: by these the connection notes what the server has taken. */
  get name(): string | undefined {
    return this.#next.name
  }

  get text(): string {
    return this.#next.text
  }

  get #next(): Reading {
    return this.#queries[Math.min(this.#answered, this.#queries.length - 1)] as Reading
  }

  submit(connection: Connection): void {
    const withoutEnd: Connection = Object.create(connection, { sync: { value: () => {} } })
    connection.stream.cork()
    for (const query of this.#queries) {
      this.#failure = query.submit(withoutEnd) ?? this.#failure
      if (this.#failure !== null) break // nothing may be carried out behind what could not even be sent
    }
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription(message: unknown): void {
    this.#next.handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#next.handleDataRow(message)
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#next.handleCommandComplete(message, connection)
    this.#answered += 1
  }

  handleReadyForQuery(connection: Connection): void {
    for (const query of this.#queries) query.handleReadyForQuery(connection)
    if (this.#failure === null) this.#done.resolve(this.#found)
    else this.#done.reject(this.#failure)
  }

  /** What the server does not begin it does not take by name either. */
  handleError(error: Error, connection: Connection): void {
    const { submittedNamedStatements } = connection as Noting
    for (const { name } of this.#queries.slice(this.#answered))
      if (name !== undefined) delete submittedNamedStatements[name]
    this.#done.reject(this.#failure ?? error)
  }
}
