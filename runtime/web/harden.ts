/**
 * Takes away what a sandboxed script has no use for and an attack has: code made from text, shared memory
 * (with Atomics a clock finer than ours) and WebAssembly (native memory outside the heap limit).
 *
 * It runs at boot and not when the prelude is evaluated: V8 puts SharedArrayBuffer and WebAssembly back when
 * a context is made from a startup snapshot.
 */
export const harden = (global: typeof globalThis, { allowEval }: { allowEval: boolean }): void => {
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WebAssembly']) Reflect.deleteProperty(global, name)
  if (allowEval) return
  Reflect.deleteProperty(global, 'eval')
  closeConstructors(global)
}

// One function of each kind: their constructors are reachable through any function of that kind.
const functionSamples = [
  () => undefined,
  async () => undefined,
  function* () {
    yield undefined
  },
  async function* () {
    yield undefined
  },
]

/** A proxy keeps name, prototype and `f instanceof Function` as they were. */
const closeConstructors = (global: typeof globalThis): void => {
  let closedFunction: object | undefined
  for (const sample of functionSamples) {
    const prototype: { constructor: FunctionConstructor } = Object.getPrototypeOf(sample)
    const open = prototype.constructor
    const { name } = open
    const refuse = (): never => {
      throw new EvalError(`${name}: code cannot be made from text in a sandbox`)
    }
    const closed = new Proxy(open, { apply: refuse, construct: refuse })
    // The other three inherit from Function, and would lead to the open one.
    if (closedFunction === undefined) closedFunction = closed
    else Object.setPrototypeOf(open, closedFunction)
    Object.defineProperty(prototype, 'constructor', { value: closed })
    if (Object.hasOwn(global, name)) Object.defineProperty(global, name, { value: closed })
  }
}
