import { declareInterface } from './clone/platform-objects.ts'

type Constructor = { prototype: object }

/**
 * Gives a class the shape that Web IDL asks of an interface object: its name, whatever the bundler made of
 * it, the number of arguments that its constructor needs, `Symbol.toStringTag`, and enumerable attributes and operations.
 */
export const shapeInterface = (name: string, interfaceObject: Constructor, needs: number): void => {
  Object.defineProperty(interfaceObject, 'length', { value: needs, configurable: true })
  Object.defineProperty(interfaceObject, 'name', { value: name, configurable: true })
  for (const key of Object.getOwnPropertyNames(interfaceObject)) {
    if (typeof (interfaceObject as unknown as Record<string, unknown>)[key] === 'function')
      setEnumerable(interfaceObject, key)
  }
  const { prototype } = interfaceObject
  declareInterface(prototype)
  for (const key of Object.getOwnPropertyNames(prototype)) {
    if (key !== 'constructor') setEnumerable(prototype, key)
  }
  const tag = Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)
  if (tag === undefined || (tag.value !== name && tag.configurable)) {
    Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true })
  }
  const { entries } = prototype as { entries?: unknown }
  if (Object.hasOwn(prototype, Symbol.iterator) && typeof entries === 'function') {
    Object.defineProperty(prototype, Symbol.iterator, { value: entries, writable: true, configurable: true })
  }
}

const setEnumerable = (on: object, key: string): void => {
  const property = Object.getOwnPropertyDescriptor(on, key)
  if (property?.configurable === true) Object.defineProperty(on, key, { ...property, enumerable: true })
}
