/**
 * Takes away what a sandboxed script has no use for and an attack has: code made from text, shared memory
 * (with Atomics a clock finer than ours) and WebAssembly (native memory outside the heap limit).
 *
 * It runs at boot and not when the prelude is evaluated: V8 puts SharedArrayBuffer and WebAssembly back when
 * a context is made from a startup snapshot.
 */
export const harden = (global: typeof globalThis): void => {
  for (const name of ['eval', 'SharedArrayBuffer', 'Atomics', 'WebAssembly'])
    Reflect.deleteProperty(global, name)
  for (const sample of functionSamples) closeConstructor(global, Object.getPrototypeOf(sample))
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
const closeConstructor = (
  global: typeof globalThis,
  prototype: { constructor: FunctionConstructor },
): void => {
  const { name } = prototype.constructor
  const refuse = (): never => {
    throw new EvalError(`${name}: code cannot be made from text in a sandbox`)
  }
  const closed = new Proxy(prototype.constructor, { apply: refuse, construct: refuse })
  Object.defineProperty(prototype, 'constructor', { value: closed, writable: false, configurable: false })
  if (Object.hasOwn(global, name)) {
    Object.defineProperty(global, name, { value: closed, writable: true, configurable: true })
  }
}
