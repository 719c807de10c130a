import TransferEngine
import TransferEventLoop
import TransferJobs

/// The tools of the runner's parts, besides the store. None of them makes decisions.
struct RunTools: Sendable {
    let configuration: QueueConfiguration
    let engine: any ExchangePerformer
    let hub: EventHub
    let builder: RequestBuilder
    /// The sources of S3 credentials that expire.
    let leases: S3CredentialAsker
    /// The judge of claimed jobs, which also opens their sealed secrets.
    let accept: JobJudge
    /// The thread of the store: the database has one writer, in the order of the calls.
    let storeWorker = WorkerPool(name: "store", threads: 1)
    /// The thread that makes and opens files. Several threads would only wait for each other's lock on the folder.
    let folderWorker = WorkerPool(name: "folders", threads: 1)

    init(_ configuration: QueueConfiguration, engine: any ExchangePerformer, hub: EventHub, accept: JobJudge?) {
        self.configuration = configuration
        let key = configuration.sealingKey
        self.accept = { spec throws(TransferError) in
            let opened = try JobSealer.opened(spec, key)
            return try accept?(opened) ?? opened
        }
        self.engine = engine
        self.hub = hub
        var secrets = configuration.secrets
        secrets.leases = S3CredentialMemory()
        builder = RequestBuilder(userAgent: configuration.userAgent, proxies: configuration.proxies, secrets: secrets)
        leases = S3CredentialAsker(engine: engine, builder: builder)
    }
}
