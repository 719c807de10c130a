public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request whose response is written to a file.
///
/// The body is written to a file in the temporary folder, which is moved to its destination when it is complete. Until
/// then only the owner may read it; at its destination it has the access of the file that it replaces, or of a new one.
/// The bytes of a failed or cancelled attempt are kept for ``resumeData`` if the server sent a validator. A validator is
/// needed to request the rest safely (RFC 9110 §13.1.5).
public final class DownloadRequest: Request, @unchecked Sendable {  // Its own state is behind a lock.
    /// The steps before the file is moved to its destination.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: Int
        /// Creates options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Makes the folders above the destination.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Replaces an existing file.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// A closure that returns the destination of a complete file.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

    /// A closure that validates a response.
    ///
    /// - Parameter fileURL: The place of the complete file, in the temporary folder.
    /// - Returns: Whether the response is accepted.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?) -> ValidationResult

    /// The source of the download.
    public enum Downloadable: Sendable {
        /// A new download, with the source of its URL request.
        case request(any URLRequestConvertible)
        /// A download that continues with the resume data of an earlier one.
        case resumeData(Data)
    }

    /// The source of the download.
    public let downloadable: Downloadable
    /// The closure that chooses the destination; `nil` leaves the file in the temporary folder.
    public let destination: Destination?
    let files: DownloadFiles
    private let mutable = Mutex(Mutable())

    private struct Mutable {
        var cancellation = Cancellation.none
        var validators: [Validation] = []
        /// The complete file while validators judge its response.
        var judged: URL?
        /// The verdicts of validations, which monitors receive after the end.
        var verdicts: [MonitorEvent] = []
        /// The handlers that wait for resume data.
        var handlers: [@Sendable (Data?) -> Void] = []
    }

    private enum Cancellation {
        case none
        case discarding
        case producing
    }

    init(
        downloadable: Downloadable, session: Session, _ options: RequestOptions,
        destination: Destination?
    ) {
        self.downloadable = downloadable
        self.destination = destination
        files = DownloadFiles(folder: session.settings.temporaryFolder, manager: session.delegate.fileManager)
        super.init(session: session, options)
        if case .resumeData(let data) = downloadable, let resumption = try? DownloadResumption(data) {
            files.continueLater(resumption.resume)
        }
    }

    /// The data for `Session.download(resumingWith:)`, in this process or another; `nil` when nothing can be continued.
    /// The data exist after a failure, and after a cancellation that asked for them.
    public var resumeData: Data? {
        switch mutable.withLock({ $0.cancellation }) {
        case .discarding: return nil
        case .none, .producing: break
        }
        guard let resume = files.resumable, let request = firstRequest ?? (try? makeURLRequest()) else { return nil }
        return DownloadResumption(request, resume).data
    }

    /// The URL of the file, once it is complete: during validations its place in the temporary folder.
    public var fileURL: URL? { files.saved ?? mutable.withLock { $0.judged } }

    /// Cancels the download without resume data; the received bytes are removed.
    @discardableResult
    override public func cancel() -> Self { cancel(producingResumeData: false) }

    /// Cancels the download, and keeps the received bytes if `shouldProduceResumeData`.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        mutable.withLock { state in
            guard case .none = state.cancellation, !isFinished else { return }
            state.cancellation = shouldProduceResumeData ? .producing : .discarding
        }
        return super.cancel()
    }

    /// Cancels the download, keeps the received bytes, and passes the resume data to the handler on the session's
    /// queue; `nil` if there are none.
    @discardableResult
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
        mutable.withLock { state in
            switch state.cancellation {
            // All handlers are called. An earlier cancellation without resume data is not changed.
            case .none where !isFinished: state.cancellation = .producing
            case .none, .discarding, .producing: break
            }
            state.handlers.append(completionHandler)
        }
        super.cancel()
        // A download that is being stopped has its resume data later. Any other state is settled now or soon.
        if read({ $0.lifecycle.state }) != .cancelled(.stopping) {
            session.rootQueue.async { self.answerCancellations() }
        }
        return self
    }

    /// Adds a validation that a response has to pass before its file is moved to the destination. The file of a refused
    /// response is removed and replaces no other.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        mutable.withLock { $0.validators.append(validation) }
        return self
    }

    // MARK: Attempts

    override func makeURLRequest() throws -> URLRequest {
        switch downloadable {
        case .request(let convertible): return try convertible.asURLRequest()
        case .resumeData(let data): return try DownloadResumption(data).makeURLRequest()
        }
    }

    override var touchesFiles: Bool { true }
    override var kind: AttemptRecord.Kind { .download }

    override func makeTransfer(_ request: URLRequest) throws -> Transfer {
        // A `URLProtocol` of the program may claim the URL.
        if session.protocols == nil, let file = LocalFile(request) { return Transfer(urlRequest: request, file: file) }
        var exchange = try ExchangeRequest(request, of: session)
        let (part, point) = try files.open(for: exchange.url)
        if let point { exchange.intent = .representation(point) }
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            // The file has to hold the representation itself, so that offsets in it have a meaning. The encodings that
            // the session accepts for bodies in memory are not requested here.
            exchange.headers.set("Accept-Encoding", "identity")
        }
        let url = Redaction.url(exchange.url)
        let workers = try session.engine().workers
        return Transfer(urlRequest: request, exchange: exchange) { _ in
            FileSink(
                part, offset: point?.offset ?? 0, url: url, algorithm: nil, workers: workers, state: FileSinkState())
        }
    }

    override func responded(_ record: AttemptRecord) {
        guard isMonitored, let start = record.start, start.continued > 0 else { return }
        emit(record) { monitor, session, task in
            guard let task = task as? URLSessionDownloadTask else { return }
            monitor.urlSession(
                session, downloadTask: task, didResumeAtOffset: start.continued, expectedTotalBytes: start.total ?? -1)
        }
    }

    /// Whether the rest can be requested: only for a GET whose response has a validator (RFC 9110 §13.1.5).
    override var isResumable: Bool {
        guard let record = read({ $0.running }), record.urlRequest.httpMethod == "GET", let head = record.start?.head
        else { return false }
        return (head.status == 200 || head.status == 206) && Validator(head)?.ifRange != nil
    }

    override var readsFiles: Bool { true }

    /// Copies the file into the temporary folder. The copy stays there, as in Alamofire, as a destination needs the
    /// head of a response.
    override func receive(_ file: LocalFile, _ record: AttemptRecord) throws { try files.copy(file) }

    override var placesFiles: Bool { true }

    override func take(_ end: TransferEnd) -> AFError? {
        // A file that became complete during a cancellation is not delivered either.
        guard let failure = end.failure ?? (isCancelled ? .explicitlyCancelled : nil) else { return nil }
        switch mutable.withLock({ $0.cancellation }) {
        case .discarding: files.discard()
        case .none, .producing: files.keep(end, method: request?.httpMethod ?? "GET")
        }
        return failure.carrying(resumeData)
    }

    override func place(_ end: TransferEnd) -> AFError? {
        // The request may have been cancelled during its validations.
        if let failure = take(end) { return failure }
        do {
            let temporary = files.temporary
            try files.save(response: end.response, to: destination) { [self] url in
                emit(MonitorEvent { [self] in $0.request(self, didCreateDestinationURL: url) })
            }
            emitDownloaded(temporary)
            return nil
        } catch {
            return error.asAFError { .sessionTaskFailed(error: $0) }
        }
    }

    override func refused() {
        emitDownloaded(files.temporary)
        files.refuse()
    }

    private func emitDownloaded(_ temporary: URL?) {
        guard let temporary, let record = read({ $0.attempts.last }) else { return }
        emit(record) { monitor, session, task in
            guard let task = task as? URLSessionDownloadTask else { return }
            monitor.urlSession(session, downloadTask: task, didFinishDownloadingTo: temporary)
        }
    }

    override func emitEnd(of record: AttemptRecord, _ error: AFError?) {
        let result = error.map { Result<URL, AFError>.failure($0) } ?? fileURL.map { .success($0) }
        guard let result else { return }
        emit(record) { [self] in $0.request(self, didFinishDownloadingUsing: $2, with: result) }
    }

    override var hasValidators: Bool { mutable.withLock { !$0.validators.isEmpty } }

    override func validate(_ response: HTTPURLResponse) throws {
        let (url, request) = (files.temporary, request)
        mutable.withLock { $0.judged = url }
        defer { mutable.withLock { $0.judged = nil } }
        for validator in mutable.withLock({ $0.validators }) {
            let result = validator(request, response, url)
            let verdict = MonitorEvent { [self] in
                $0.request(self, didValidateRequest: request, response: response, fileURL: url, withResult: result)
            }
            mutable.withLock { $0.verdicts.append(verdict) }
            try result.get()
        }
    }

    override func tellVerdicts() { for verdict in mutable.withLock({ $0.verdicts.take() }) { emit(verdict) } }

    override func release() {
        if case .discarding = mutable.withLock({ $0.cancellation }) {
            files.discard()
            if isCancelled, destination == nil { files.removeSaved() }
        } else {
            files.close()
        }
        answerCancellations()
    }

    private func answerCancellations() {
        let handlers = mutable.withLock { $0.handlers.take() }
        guard !handlers.isEmpty else { return }
        let data = resumeData
        for handler in handlers { handler(data) }
    }

    override var body: EndedRequest.Body { .file(fileURL, resumeData: resumeData) }
}
