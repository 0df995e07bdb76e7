/**
 * WinterTC's Minimum Common Web API (ECMA-429): every interface and every global of its list is there and has the shape
 * that Web IDL asks for, seen from inside an isolate. What is left out is left out on purpose, and named here.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createPlatform, modes, type Platform, run } from '../guest.ts'

let platform: Platform
before(async () => {
  platform = await createPlatform()
})

/** Each with the number of arguments that its constructor needs, or 'illegal' where only the platform makes one. */
const interfaces: Record<string, number | 'illegal'> = {
  AbortController: 0,
  AbortSignal: 'illegal',
  Blob: 0,
  ByteLengthQueuingStrategy: 1,
  CompressionStream: 1,
  CountQueuingStrategy: 1,
  Crypto: 'illegal',
  CryptoKey: 'illegal',
  CustomEvent: 1,
  DOMException: 0,
  DecompressionStream: 1,
  ErrorEvent: 1,
  Event: 1,
  EventTarget: 0,
  File: 2,
  FormData: 0,
  Headers: 0,
  MessageChannel: 0,
  MessageEvent: 1,
  MessagePort: 'illegal',
  Performance: 'illegal',
  PromiseRejectionEvent: 2,
  ReadableByteStreamController: 'illegal',
  ReadableStream: 0,
  ReadableStreamBYOBReader: 1,
  ReadableStreamBYOBRequest: 'illegal',
  ReadableStreamDefaultController: 'illegal',
  ReadableStreamDefaultReader: 1,
  Request: 1,
  Response: 0,
  SubtleCrypto: 'illegal',
  TextDecoder: 0,
  TextDecoderStream: 0,
  TextEncoder: 0,
  TextEncoderStream: 0,
  TransformStream: 0,
  TransformStreamDefaultController: 'illegal',
  URL: 1,
  URLPattern: 0,
  URLSearchParams: 0,
  WritableStream: 0,
  WritableStreamDefaultController: 'illegal',
  WritableStreamDefaultWriter: 1,
}

/** Each with its `length`. */
const functions: Record<string, number> = {
  atob: 1,
  btoa: 1,
  clearInterval: 0,
  clearTimeout: 0,
  fetch: 1,
  queueMicrotask: 1,
  reportError: 1,
  setInterval: 1,
  setTimeout: 1,
  structuredClone: 1,
}

const objects: Record<string, string> = {
  console: '[object console]',
  crypto: '[object Crypto]',
  navigator: '[object Navigator]',
  performance: '[object Performance]',
}

/** Instances by which the attributes and operations of an interface are looked at. */
const inherited: [name: string, parent: string][] = [
  ['AbortSignal', 'EventTarget'],
  ['CustomEvent', 'Event'],
  ['ErrorEvent', 'Event'],
  ['File', 'Blob'],
  ['MessageEvent', 'Event'],
  ['MessagePort', 'EventTarget'],
  ['Performance', 'EventTarget'],
  ['PromiseRejectionEvent', 'Event'],
]

const shapeOf = `(name) => {
  const property = Object.getOwnPropertyDescriptor(globalThis, name)
  if (property === undefined) return 'missing'
  const made = property.value
  const prototype = Object.getOwnPropertyDescriptor(made, 'prototype')
  const tag = Object.getOwnPropertyDescriptor(made.prototype, Symbol.toStringTag)
  const members = Object.getOwnPropertyNames(made.prototype).filter((key) => key !== 'constructor')
  return {
    type: typeof made,
    global: [property.enumerable, property.writable, property.configurable],
    name: made.name,
    length: made.length,
    prototypeWritable: prototype.writable,
    constructor: made.prototype.constructor === made,
    tag: tag?.value,
    hidden: members.filter((key) => !Object.getOwnPropertyDescriptor(made.prototype, key).enumerable),
    called: (() => { try { made(); return 'no error' } catch (error) { return error.name } })(),
    constructed: (() => { try { new made(); return 'no error' } catch (error) { return error.name } })(),
  }
}`

for (const mode of modes) {
  describe(`the Minimum Common Web API, from ${mode === 'snapshot' ? 'a snapshot' : 'evaluated code'}`, () => {
    test('has every interface, in the shape of Web IDL', async () => {
      const names = Object.keys(interfaces)
      const shapes = await run(platform, mode, `return ${JSON.stringify(names)}.map(${shapeOf})`)
      assert.deepEqual(shapes, names.map(expectedShape))
    })

    test('refuses to construct internal interfaces, and requires arguments', async () => {
      const needing = Object.entries(interfaces).filter(([, needs]) => needs !== 0)
      const names = needing.map(([name]) => name)
      const thrown = await run(
        platform,
        mode,
        `return ${JSON.stringify(names)}.map((name) => { try { new globalThis[name](); return name } catch (e) { return e.name } })`,
      )
      assert.deepEqual(
        thrown,
        names.map(() => 'TypeError'),
      )
    })

    test('derives its interfaces as in the standards', async () => {
      const body = `return ${JSON.stringify(inherited)}.map(([name, parent]) => {
        const [made, from] = [globalThis[name], globalThis[parent]]
        return [Object.getPrototypeOf(made) === from, Object.getPrototypeOf(made.prototype) === from.prototype]
      })`
      assert.deepEqual(
        await run(platform, mode, body),
        inherited.map(() => [true, true]),
      )
    })

    test('has every function and object', async () => {
      const names = Object.keys(functions)
      const body = `return ${JSON.stringify(names)}.map((name) => {
        const { value, enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name)
        return [typeof value, value.name, value.length, enumerable, writable, configurable]
      })`
      assert.deepEqual(
        await run(platform, mode, body),
        names.map((name) => ['function', name, functions[name], true, true, true]),
      )
      const tags = `return ${JSON.stringify(Object.keys(objects))}.map((name) => String(globalThis[name]))`
      assert.deepEqual(await run(platform, mode, tags), Object.values(objects))
    })

    test('has a global object with self and event handlers', async () => {
      const body = `const handlers = ['onerror', 'onunhandledrejection', 'onrejectionhandled']
        return [self === globalThis, handlers.map((name) => globalThis[name]), typeof navigator.userAgent,
          typeof performance.now(), typeof performance.timeOrigin, typeof addEventListener]`
      const expected = [true, [null, null, null], 'string', 'number', 'number', 'function']
      assert.deepEqual(await run(platform, mode, body), expected)
    })

    test('omits WebAssembly, shared memory and all of a process', async () => {
      const absent = [
        'WebAssembly',
        'SharedArrayBuffer',
        'Atomics',
        'process',
        'require',
        'Buffer',
        '__annexBoot',
      ]
      const body = `return ${JSON.stringify(absent)}.filter((name) => name in globalThis)`
      assert.deepEqual(await run(platform, mode, body), [])
    })
  })
}

function expectedShape(name: string) {
  const needs = interfaces[name] ?? 0
  return {
    type: 'function',
    global: [false, true, true],
    name,
    length: needs === 'illegal' ? 0 : needs,
    prototypeWritable: false,
    constructor: true,
    tag: name,
    hidden: [],
    called: 'TypeError',
    constructed: needs === 0 ? 'no error' : 'TypeError',
  }
}
