import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Options = { challenge: string; rpId?: string; rp?: { id?: string } }
type Given = { origin: string; rpId?: string; counter?: number; flags?: number }

/** An authenticator with one passkey, as WebAuthn (level 3) describes it: ES256, and no attestation. */
export type Authenticator = {
  id: string
  register: (options: object, given: Given) => object
  signIn: (options: object, given: Given) => object
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()
const [userPresent, userVerified, attested] = [0x01, 0x04, 0x40]

export function createAuthenticator(): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(32)
  const id = credentialId.toString('base64url')

  const clientData = (type: string, { challenge }: Options, { origin }: Given) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

  function authenticatorData(options: Options, given: Given, more?: Buffer): Buffer {
    const { counter = 0, flags = userPresent | userVerified } = given
    const rpId = given.rpId ?? options.rpId ?? options.rp?.id ?? ''
    const head = Buffer.alloc(5)
    head.writeUInt8(more === undefined ? flags : flags | attested)
    head.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(rpId), head, ...(more === undefined ? [] : [more])])
  }

  return {
    id,
    register(given, how) {
      const options = given as Options
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const cose = cborMap([
        [cborInt(1), cborInt(2)],
        [cborInt(3), cborInt(-7)],
        [cborInt(-1), cborInt(1)],
        [cborInt(-2), cborBytes(Buffer.from(x, 'base64url'))],
        [cborInt(-3), cborBytes(Buffer.from(y, 'base64url'))],
      ])
      const data = authenticatorData(
        options,
        how,
        Buffer.concat([Buffer.alloc(16), length, credentialId, cose]),
      )
      const attestation = cborMap([
        [cborText('fmt'), cborText('none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(data)],
      ])
      return {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: {
          clientDataJSON: clientData('webauthn.create', options, how).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    signIn(given, how) {
      const options = given as Options
      const data = authenticatorData(options, how)
      const client = clientData('webauthn.get', options, how)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: 'user',
        },
      }
    },
  }
}

/** Of CBOR (RFC 8949), what an attestation needs. */
function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff])
}

const cborInt = (value: number): Buffer => (value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value))
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes])
export const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, text.length), Buffer.from(text)])
export const cborMap = (entries: [Buffer, Buffer][]): Buffer =>
  Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
