import type { OperationId } from '../../../schemas/generated/api/operations.ts'
import type { Make } from './fresh.ts'
import { type Params, scopes } from './world.ts'

/** The facts of an operation that its schema does not say. */
export type Row = {
  /** Default: the example of the schema. */
  body?: (params: Params, role: string) => unknown
  query?: (params: Params, role: string) => string
  /** Parameters of its path that differ from those of the record set. */
  params?: Params
  /** Any token may read it where it is public. */
  isPublic?: true
  /** A new record for an allowed cell, where the call ends the record or makes a second one impossible. */
  fresh?: keyof Make
}

const plain: Row = {}
const visitor = { anonymousId: 'v', userAgent: 'a', ip: '192.0.2.1', cookies: {} }
const component: Row = { body: () => ({ componentId: 'card' }) }
const configuration: Row = { body: () => ({ configuration: { label: 'a label' } }) }
const connection: Row = { params: { property: 'account' } }
const options: Row = { params: { property: 'choice' } }
const setting: Row = { params: { property: 'label' } }
const putSetting: Row = { ...setting, body: () => ({ value: 'a label' }) }

/** Each operation of the API. The types fail without a row for a new one. */
export const rows: Record<OperationId, Row> = {
  // content
  getCurrentRevision: plain,
  listPages: plain,
  getPageById: plain,
  putPage: { body: () => ({ title: 'Hello', markdown: '# Hello\n' }) },
  deletePage: { fresh: 'page' },
  listRevisions: plain,
  getRevisionById: plain,
  listPagesInRevisionById: plain,
  getPageInRevisionById: plain,
  getRevisionSemanticChanges: plain,
  // deliveries, receivers, jobs, events
  listDeliveries: plain,
  followDeliveries: plain,
  sendFailedDeliveries: plain,
  getDelivery: plain,
  sendDelivery: plain,
  listReceivers: plain,
  getReceiver: plain,
  updateReceiver: plain,
  pauseReceiver: plain,
  resumeReceiver: plain,
  sendExampleEvent: plain,
  listJobs: plain,
  getJob: plain,
  runJob: plain,
  discardJob: plain,
  publishEvent: {
    body: ({ site }) => ({
      type: 'site_view',
      siteId: site,
      url: 'https://a.example/',
      referrer: '',
      visitor,
    }),
    query: ({ org }, role) => (role === 'operator' ? `?organization=${org}` : ''),
  },
  // dispatches
  renderInstallationComponent: component,
  computeInstallationRevision: plain,
  computeInstallationDocument: plain,
  renderSiteInstallationComponent: component,
  computeSiteInstallationRevision: plain,
  computeSiteInstallationDocument: plain,
  renderSpaceInstallationComponent: component,
  computeSpaceInstallationRevision: plain,
  computeSpaceInstallationDocument: plain,
  getPublishedScript: plain,
  authenticateVisitor: plain,
  // connections
  connectInstallation: plain,
  connectInstallationSetting: connection,
  connectSiteInstallation: plain,
  connectSiteInstallationSetting: connection,
  connectSpaceInstallation: plain,
  connectSpaceInstallationSetting: connection,
  getConnectPage: plain,
  openConnectLink: plain,
  // installations
  listInstallations: plain,
  getInstallation: plain,
  listIntegrationInstallations: plain,
  installIntegration: {
    body: ({ org }, role) => ({ version: 1, scopes, ...(role === 'operator' && { organization: org }) }),
  },
  getIntegrationInstallationById: plain,
  updateIntegrationInstallation: configuration,
  // With `all` the installation would reach the records of other cells.
  selectPlaces: { body: () => ({ spaces: 'selected', sites: 'selected' }) },
  uninstallIntegration: { fresh: 'installation' },
  pauseInstallation: plain,
  resumeInstallation: plain,
  listInstallationStorage: plain,
  listIntegrationInstallationSites: plain,
  installIntegrationOnSite: { fresh: 'site', body: ({ site }) => ({ site }) },
  getIntegrationSiteInstallation: plain,
  updateIntegrationSiteInstallation: configuration,
  uninstallIntegrationFromSite: { fresh: 'siteInstallation' },
  listIntegrationInstallationSpaces: plain,
  installIntegrationOnSpace: { fresh: 'space', body: ({ space }) => ({ space }) },
  getIntegrationSpaceInstallation: plain,
  updateIntegrationSpaceInstallation: configuration,
  uninstallIntegrationFromSpace: { fresh: 'spaceInstallation' },
  putInstallationSetting: putSetting,
  deleteInstallationSetting: setting,
  rotateInstallationSecret: plain,
  endInstallationSecretOverlap: plain,
  putSiteInstallationSetting: putSetting,
  deleteSiteInstallationSetting: setting,
  rotateSiteInstallationSecret: plain,
  endSiteInstallationSecretOverlap: plain,
  putSpaceInstallationSetting: putSetting,
  deleteSpaceInstallationSetting: setting,
  rotateSpaceInstallationSecret: plain,
  endSpaceInstallationSecretOverlap: plain,
  // integrations and their versions
  listIntegrations: plain,
  getIntegrationByName: { isPublic: true },
  getIntegrationImage: { params: { image: 'icon.png' } },
  checkIntegrationSettings: {
    isPublic: true,
    body: () => ({ level: 'site', configuration: {} }),
  },
  resumeIntegration: plain,
  createIntegrationInstallationToken: plain,
  listIntegrationSiteInstallations: plain,
  listIntegrationSpaceInstallations: plain,
  queueIntegrationTask: plain,
  listInstallLinks: plain,
  createInstallLink: plain,
  revokeInstallLink: { fresh: 'installLink' },
  reloadFolders: plain,
  readFolderLoad: plain,
  listIntegrationVersions: plain,
  compareIntegrationVersions: plain,
  rollBackIntegration: plain,
  unpinIntegration: plain,
  pruneIntegrations: { fresh: 'retired', body: () => ({}) },
  listProblems: plain,
  listInstallationSettingOptions: options,
  listSiteInstallationSettingOptions: options,
  listSpaceInstallationSettingOptions: options,
  getInstallationAgreement: plain,
  agreeToVersion: plain,
  // people and organizations
  getMe: plain,
  listMembersInOrganizationById: plain,
  addMemberToOrganizationById: plain,
  getMemberInOrganizationById: plain,
  updateMemberInOrganizationById: plain,
  removeMemberFromOrganizationById: { fresh: 'member' },
  listOrganizationTokens: plain,
  createOrganizationToken: plain,
  revokeOrganizationToken: { fresh: 'token' },
  listOperatorTokens: plain,
  createOperatorToken: plain,
  revokeOperatorToken: { fresh: 'operatorToken' },
  redeemSetupToken: plain,
  // accounts and sessions
  getSignIn: plain,
  createPasskeyChallenge: plain,
  readLink: plain,
  createAccount: plain,
  resetAccount: plain,
  createResetLink: { body: () => ({ email: 'reader-session@example.com' }) },
  getAccount: plain,
  updateAccount: plain,
  addPasskey: plain,
  deletePasskey: plain,
  acceptInvitation: plain,
  inviteMember: plain,
  signIn: plain,
  listSessions: plain,
  endSession: plain,
  confirmSession: plain,
  listOrganizations: plain,
  createOrganization: plain,
  getOrganizationById: plain,
  updateOrganizationById: plain,
  deleteOrganizationById: { fresh: 'organization' },
  // observations
  listLogs: plain,
  listReceipts: plain,
  listUsage: plain,
  listAudit: plain,
  exportAudit: plain,
  // sites and spaces
  listSites: plain,
  createSite: plain,
  getSiteById: plain,
  updateSiteById: plain,
  deleteSiteById: { fresh: 'site' },
  listSpacesInOrganizationById: plain,
  createSpace: plain,
  getSpaceById: plain,
  updateSpaceById: plain,
  deleteSpaceById: { fresh: 'space' },
  getSiteScript: plain,
  allowSiteViews: plain,
  allowPageFeedback: plain,
  recordSiteView: plain,
  recordPageFeedback: plain,
  getSiteScriptSettings: plain,
  updateSiteScriptSettings: plain,
  listSiteViews: plain,
  countSiteViews: plain,
  getSiteAdaptiveSchema: plain,
  updateSiteAdaptiveSchema: plain,
  verifySiteVisitorToken: plain,
  getSitePublishingAuthById: plain,
  // Annex itself
  getHealth: plain,
  getReadiness: plain,
  getMetrics: plain,
  getOpenApi: plain,
}
