import { textsOfDeliveries } from './texts/deliveries.ts'
import { textsOfOverview } from './texts/overview.ts'

/** All texts of the console. Say what happened, to what, and what to do. Buttons are verbs with an object. */
export const texts = {
  annex: 'Annex',
  pages: 'Pages',
  menu: 'Menu',
  skip: 'Skip to the page',
  organization: 'Organization',
  chooseOrganization: 'Choose an organization',
  loading: 'Loading…',
  tryAgain: 'Try again',
  showAgain: 'Show this part again',
  reload: 'Reload',
  cancel: 'Cancel',
  or: 'or',
  email: 'Email',
  password: 'Password',
  newPassword: 'New password',
  passwordHint: 'At least 12 characters. A sentence is easy to remember.',
  nameOptional: 'Name (optional)',
  name: 'Name',
  copied: 'Copied',
  copy: (text: string) => `Copy ${text}`,
  request: 'Request',
  never: 'never',

  notLoaded: 'This page could not be loaded. Annex may have a newer one.',
  partBroken: 'This part of the page has an error.',
  noAnswer: 'Annex does not answer. What you typed is still here.',
  hostSilent: 'Annex does not answer. This page tries again every 3 seconds.',
  newerBuild: 'Annex has a newer console than this tab.',
  readable: 'This connection is not encrypted: others on the network can read your session. Use https.',
  nothingForFilter: 'Nothing matches this filter.',
  clearFilter: 'Clear the filter',
  needsRole: (needed: string, role: string) => `This needs the role ${needed}. You have the role ${role}.`,

  states: {
    active: 'Active',
    pending: 'Pending',
    paused: 'Paused',
    suspended: 'Suspended',
    disabled: 'Disabled',
    delivered: 'Delivered',
    failed: 'Failed',
    failing: 'Failing',
  },

  passkeys: {
    use: 'Sign in with a passkey',
    what: (host: string) =>
      `Your browser makes a passkey for ${host}. It stays on your device, and signs you in by its lock.`,
    notSecure: 'A passkey needs https, or the name localhost. Here you sign in with a password.',
    oldBrowser: 'This browser has no passkeys. Here you sign in with a password.',
    noName: (port: string) =>
      `A passkey belongs to the name of a host, and this address has none. On this machine, open http://localhost${port && `:${port}`} for a passkey.`,
    otherHost: (host: string) =>
      `Passkeys of this Annex belong to the host ${host}. Open that address to use one.`,
    known: 'This device has a passkey for this account already.',
    closed:
      'No passkey was given: the dialog was closed, or this device has none for this host. Try again, or use a password.',
    failed: (why: string) => `The browser could not use a passkey: ${why}`,
  },

  newWay: {
    withPasskey: (isNew: boolean) => (isNew ? 'Create account with a passkey' : 'Make a new passkey'),
    withPassword: (isNew: boolean) => (isNew ? 'Create account with this password' : 'Set this password'),
    choosePasskey: 'Use a passkey instead',
    choosePassword: 'Use a password instead',
  },

  links: {
    title: 'This link does not work',
    missing: 'The address has no link. Copy it whole, with everything after the #.',
    other: 'This link is for another page. Copy its address whole.',
  },

  setup: {
    title: 'Make your account',
    what: 'You are the first here. This account is the operator’s: it sees and changes everything in this Annex.',
    broken: 'It works once. If there is no operator yet, start Annex again: it prints a new link.',
    first: 'This Annex has no operator yet',
    open: 'Open the link that Annex printed when it started:',
    where:
      'It stands in the terminal in which `make run` or `npx annex serve` runs. Each start prints a new one.',
  },

  signIn: {
    title: (host: string) => `Sign in to ${host}`,
    action: 'Sign in',
    again: 'Sign in again',
    ended: (email: string) =>
      `Your session has ended. The page waits below with everything that you typed. Sign in as ${email}.`,
    lost: 'Lost your way in? An operator makes a link for you: npx annex members reset EMAIL',
  },

  confirm: {
    title: 'Is it you?',
    why: 'This changes who may do what. Annex asks again when you have not signed in within the last ten minutes.',
    action: 'Confirm',
  },

  join: {
    title: (organization: string) => `Join ${organization}`,
    what: (organization: string, role: string) =>
      ({
        reader: `You are invited to ${organization} as a reader: you see everything there, and change nothing.`,
        editor: `You are invited to ${organization} as an editor: you change settings and send events.`,
        admin: `You are invited to ${organization} as an admin: you install integrations and manage members.`,
      })[role] ?? `You are invited to ${organization} with the role ${role}.`,
    broken: 'An invitation works once, for seven days.',
    as: (person: string) => `Join as ${person}`,
    other: 'Sign out, and join as another person',
    known: 'You have an account here?',
  },

  reset: {
    title: 'Make a new way in',
    what: (email: string) => `For ${email}. Your other sessions end.`,
    broken: 'It works once, for an hour. Ask an operator for a new one: npx annex members reset EMAIL',
  },

  account: {
    title: 'Your account',
    operator: 'You are an operator: you see and change everything in this Annex.',
    person: 'Your name, your ways to sign in, and where you are signed in.',
    profile: 'Profile',
    save: 'Save profile',
    saved: 'Profile saved.',
    ways: 'Ways to sign in',
    passkeys: 'Passkeys',
    noPasskeys: 'No passkey yet.',
    addPasskey: 'Add a passkey',
    passkeyAdded: 'Passkey added.',
    removePasskey: (label: string) => `Remove the passkey ${label}`,
    remove: 'Remove',
    passkeyRemoved: 'Passkey removed.',
    lastWay: 'This is your only way in. Add another one first.',
    otherHost: (host: string) => `For ${host}, not for this address`,
    setPassword: 'Set a password',
    changePassword: 'Change the password',
    passwordSaved: 'Password saved. Your other sessions have ended.',
    sessions: 'Sessions',
    here: 'This browser',
    end: 'End',
    endOf: (browser: string) => `End the session in ${browser}`,
    ended: 'Session ended.',
    signOut: 'Sign out',
    zone: 'Time zone',
    zoneHint: 'Exact times are shown in it. Kept in this browser.',
    ofBrowser: (zone: string) => `That of this browser (${zone})`,
    display: 'Display',
    columns: {
      label: 'Passkey',
      host: 'Host',
      used: 'Last used',
      browser: 'Browser',
      address: 'Address',
      since: 'Since',
    },
    methods: {
      password: 'Password',
      passkey: 'Passkey',
      setup: 'Setup link',
      invitation: 'Invitation',
      reset: 'Reset link',
    },
    by: 'By',
  },

  firstSteps: {
    title: 'First delivery',
    what: 'Three steps from an event to a signed webhook on this page.',
    install: (title: string, site: string) => `Install ${title} in ${site}`,
    asks: 'It may:',
    receiver: 'Receiver',
    receiverHint:
      'Each event is sent to this address. The one given is an example in this Annex, which answers every request.',
    installed: (title: string, site: string) => `${title} is installed in ${site}.`,
    installFirst: 'Needs the installation.',
    publish: 'Publish an event',
    publishWhat: 'A sample visitor opens a page of the site.',
    delivered: 'See it arrive',
    deliveredWhat: 'The script queues a delivery, Annex signs and sends it.',
    waiting: 'The event is stored. Its script runs, and the delivery follows.',
    skipped: 'The event reached no installation:',
    open: 'Open the delivery',
    again: 'Publish another event',
  },

  installation: {
    title: (integration: string) => `Installation of ${integration}`,
    what: 'Settings are changed by the command line for now:',
    status: 'State',
    endpoint: 'Public endpoint',
    id: 'Id',
    created: 'Installed',
    deliveries: 'Its deliveries',
  },

  members: {
    title: 'Members',
    what: 'The people of this organization, and what they may do.',
    nothing: 'No member yet. Invite the first one below.',
    add: 'Invite a person',
    addAction: 'Make an invitation',
    role: 'Role',
    roles: {
      reader: 'Reader: sees everything, changes nothing',
      editor: 'Editor: changes settings, sends events',
      admin: 'Admin: installs, and manages members',
    },
    invite: 'New link',
    inviteOf: (email: string) => `Make a new invitation for ${email}`,
    remove: 'Remove',
    removeOf: (email: string) => `Remove ${email}`,
    removeTitle: (email: string) => `Remove ${email}?`,
    removeWhat:
      'Their tokens stop to work, and their sessions in this organization end. Type the email to confirm.',
    removed: (email: string) => `${email} was removed.`,
    linkTitle: (email: string) => `Invitation for ${email}`,
    linkWhat: 'Send this link to the person. It works once, for seven days, and is shown only now.',
    copyLink: 'Copy the link',
    close: 'Close',
    joined: 'Joined',
    invited: 'Not joined yet',
    changed: (email: string, role: string) => `${email} has the role ${role} now.`,
    roleOf: (email: string) => `Role of ${email}`,
    columns: { email: 'Email', name: 'Name', role: 'Role', state: 'State', actions: 'Actions' },
  },

  unknown: {
    title: 'This page does not exist',
    what: 'The address is misspelled, or its page is gone.',
    planned: 'The command line shows this',
    plannedWhat: 'The console has no page for it yet.',
    commands: 'npx annex installations\nnpx annex configure --help',
    home: 'To the overview',
  },

  ...textsOfOverview,
  ...textsOfDeliveries,
} as const
