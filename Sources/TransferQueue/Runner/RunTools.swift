import TransferEngine
import TransferEventLoop

/// What the runner's parts work with, besides the store: none of it has a say in what happens.
struct RunTools: Sendable {
    let configuration: QueueConfiguration
    let engine: ExchangeEngine
    let hub: EventHub
    let builder: RequestBuilder
    let accept: JobJudge?
    /// The database has one writer: one thread, in the order of the calls.
    let storeWorker = WorkerPool(name: "store", threads: 1)
    /// Makes and opens files: one thread, as several would only wait for each other's lock on the folder.
    let folderWorker = WorkerPool(name: "folders", threads: 1)

    init(_ configuration: QueueConfiguration, engine: ExchangeEngine, hub: EventHub, accept: JobJudge?) {
        self.configuration = configuration
        self.accept = accept
        self.engine = engine
        self.hub = hub
        builder = RequestBuilder(
            userAgent: configuration.userAgent, proxies: configuration.proxies, secrets: configuration.secrets)
    }
}
