/** What Knex compiles a query with, as far as it matters here: it has no types for it. */
type QueryCompiler = { single: { skipBinding?: Record<string, unknown> } }

/**
 * Has the `limit` of a query written out. One that is given at the run has a part in SQLite's plan, which is made anew whenever it
 * is given then: what is found by its id in 1 µs takes 13. Knex lets nothing but integers be one.
 */
export function writeOutLimit<Compiler extends object>(compiler: Compiler): Compiler {
  const { single } = compiler as QueryCompiler
  single.skipBinding = { ...single.skipBinding, limit: true }
  return compiler
}
