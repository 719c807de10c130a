import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

/// The runner, as far as the preparation of jobs needs it.
protocol PreparationHost: PartHost {
    var preparing: JobPreparing { get }
    var batches: RunningBatches { get }
    func underWay(_ id: Int64) -> RunningJob?
    /// A job that is claimed and hasn't started.
    func claimed(_ id: Int64) -> JobRecord?
    /// Jobs that are next.
    func upcoming(_ count: Int) -> [Scheduler.Candidate]
    /// Whether jobs start as soon as there is a slot.
    var startsAtOnce: Bool { get }
    var isStopping: Bool { get }
    /// A worker has looked at the destination of a download.
    func didPrepare(_ job: RunningJob, _ result: DownloadPreparation.Result)
    /// The source of an upload is open, or can't be.
    func didOpen(_ job: RunningJob, _ result: Result<OpenedSource, TransferError>)
}

/// Jobs that have a slot and are prepared by workers, and sources of uploads that are opened before there is one.
final class JobPreparing {
    private var preparation = Preparation()
    private let engine: ExchangeEngine
    private let census: FolderCache
    /// Makes and opens files: one thread, as several would only wait for each other's lock on the folder.
    private let folders: WorkerPool

    init(engine: ExchangeEngine, census: FolderCache, folders: WorkerPool) {
        self.engine = engine
        self.census = census
        self.folders = folders
    }

    /// Nobody knows when jobs will start now.
    func forgetAhead() { preparation.ahead.forget() }

    /// Nothing is under way.
    func rest() { preparation.ahead.rest() }

    /// The job won't start.
    func drop(_ id: Int64) { preparation.ahead.drop(id) }

    func add(_ download: DownloadPreparation) { preparation.add(download) }

    /// A job starts whose source is to be opened, if it isn't yet.
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

    /// Hands what has gathered to a worker: one hop for several jobs, where several start together.
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
            // No worker comes back, so nobody else sees that there is a slot again.
            if host.underWay(id)?.hasBegun != true { host.pump() }
        }
        prepareAhead(on: host)
        for group in preparation.takeUploads() { open(group, on: host) }
    }

    /// Sources of jobs that are next, in which nothing is looked for that may have to be found later.
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
