/** Signing in by an OpenID provider. */
export const openid = {
  signIn: (name: string) => `Sign in with ${name}`,
  confirm: (name: string) => `Confirm with ${name}`,
  waits: (name: string) =>
    `${name} opens in a new tab. This page waits, and continues when you are done there.`,
  only: 'You sign in by an OpenID provider, and this Annex has none any more. Ask an operator.',
  title: 'Signing in',
  runs: 'Annex checks the answer of the OpenID provider…',
  failed: 'The sign-in did not work',
  nothing: 'There is no answer of the OpenID provider at this address.',
  back: 'Back to sign-in',
  backToAccount: 'Back to your account',
  closeFailed: 'Close this tab, and try again in the one that you came from.',
  done: 'You are signed in',
  closeDone: 'Close this tab. The page that you came from continues.',
  provider: 'OpenID provider',
  is: (name: string) => `This account is linked with ${name}. You can sign in by it.`,
  madeBy: (name: string) =>
    `${name} has made this account, and sets its roles at each sign-in. The account has no other way to sign in.`,
  issuer: 'Issuer',
  subject: 'Your id there',
  since: 'Since',
  used: 'Last used',
  link: (name: string) => `Link ${name}`,
  linkWhat: (name: string) =>
    `A linked account can also sign in by ${name}. Your roles here do not change by it.`,
  unlink: 'Unlink',
  unlinked: 'Unlinked. Your other sessions have ended.',
} as const
