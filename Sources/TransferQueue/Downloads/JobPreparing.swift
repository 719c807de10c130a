import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

/// The part of the runner that the preparation of jobs needs.
protocol PreparationHost: PartHost {
    var preparing: JobPreparing { get }
    var batches: RunningBatches { get }
    func underWay(_ id: Int64) -> RunningJob?
    /// Returns a claimed job that has not started.
    func claimed(_ id: Int64) -> JobRecord?
    /// Returns the jobs that are next.
    func upcoming(_ count: Int) -> [Scheduler.Candidate]
    /// Whether jobs start as soon as there is a slot.
    var startsAtOnce: Bool { get }
    var isStopping: Bool { get }
    /// Takes the result of a worker's preparation of a download.
    func didPrepare(_ job: RunningJob, _ result: DownloadPreparation.Result)
    /// Takes the opened source of an upload, or the reason why it cannot be opened.
    func didOpen(_ job: RunningJob, _ result: Result<OpenedSource, TransferError>)
}

/// The preparation by workers of jobs that have a slot, and of upload sources that are opened ahead of a slot.
final class JobPreparing {
    private var preparation = Preparation()
    private let engine: any ExchangePerformer
    private let census: FolderCache
    /// The thread that makes and opens files. Several threads would only wait for each other's lock on the folder.
    private let folders: WorkerPool

    init(engine: any ExchangePerformer, census: FolderCache, folders: WorkerPool) {
        self.engine = engine
        self.census = census
        self.folders = folders
    }

    /// Forgets the estimate of when jobs will start.
    func forgetAhead() { preparation.ahead.forget() }

    /// Notes that no transfer is under way.
    func rest() { preparation.ahead.rest() }

    /// Drops the source of a job that will not start.
    func drop(_ id: Int64) { preparation.ahead.drop(id) }

    func add(_ download: DownloadPreparation) { preparation.add(download) }

    /// Prepares the source of a job that starts, unless it is already open.
    func add(_ record: JobRecord, _ upload: JobSpec.Upload, _ directory: String) {
        let id = record.id
        if let source = preparation.ahead.take(id, now: .now) {
            preparation.add(id, source)
        } else if !preparation.ahead.isAsked(id) {
            let source = UploadPreparation(record, upload, directory)
            if let opened = preparation.ahead.open(source, now: .now) {
                preparation.add(id, opened)
            } else {
                preparation.add(source)
            }
        }
    }

    /// Passes the gathered jobs to a worker, in one hop for several that start together.
    func flush(on host: isolated some PreparationHost) {
        for group in preparation.takeDownloads() {
            folders.execute { [host, census] in
                let results = group.map { ($0.record.id, $0.run(census)) }
                host.loop.execute {
                    host.onLoop { host in
                        for (id, result) in results {
                            if let job = host.underWay(id) { host.didPrepare(job, result) }
                        }
                        host.pump()
                    }
                }
            }
        }
        for source in preparation.takeDigested() { open([source], on: host) }
        for (id, source) in preparation.takeOpened() {
            if let job = host.underWay(id) { host.didOpen(job, source) }
            // No worker will return and notice the free slot, so jobs are started here.
            if host.underWay(id)?.hasBegun != true { host.pump() }
        }
        prepareAhead(on: host)
        for group in preparation.takeUploads() { open(group, on: host) }
    }

    /// Opens sources of jobs that are next, except those whose content may have to be examined later.
    private func prepareAhead(on host: isolated some PreparationHost) {
        guard preparation.ahead.isUseful, host.startsAtOnce, !host.isStopping else { return }
        let room = preparation.ahead.room
        guard !preparation.uploads.isEmpty || room > SourcesAhead.size / 2 else { return }
        for candidate in host.upcoming(room) where !preparation.ahead.knows(candidate.id) {
            guard let record = host.claimed(candidate.id), record.watched == nil,
                case .upload(let upload) = record.spec.work,
                upload.checksum == nil, let batch = host.batches[record.batch]
            else { continue }
            preparation.ahead.ask(candidate.id)
            preparation.add(UploadPreparation(record, upload, batch.directory))
        }
    }

    private func open(_ group: [UploadPreparation], on host: isolated some PreparationHost) {
        engine.workers.execute { [host] in
            let results = group.map { ($0.id, $0.run()) }
            let folder = group.last.flatMap { CachedFolder(of: $0.path) }
            host.loop.execute {
                host.onLoop { host in
                    let own = host.preparing
                    own.preparation.ahead.found(folder, now: .now)
                    for (id, result) in results { own.cameOpen(id, result, on: host) }
                    host.pump()
                }
            }
        }
    }

    private func cameOpen(
        _ id: Int64, _ result: Result<OpenedSource, TransferError>, on host: isolated some PreparationHost
    ) {
        preparation.ahead.came(id, result)
        if let job = host.underWay(id) { return host.didOpen(job, result) }
        if host.claimed(id) != nil, !host.isStopping { preparation.ahead.keep(id, result, now: .now) }
    }
}

extension UploadPreparation {
    fileprivate init(_ record: JobRecord, _ upload: JobSpec.Upload, _ directory: String) {
        let path = upload.source.hasPrefix("/") ? upload.source : directory + "/" + upload.source
        var version = record.watched
        version?.mustProve = record.wasInterrupted || record.upload != nil
        self.init(id: record.id, path: path, version: version, expected: upload.checksum)
        confinement = record.spec.confinement
    }
}
