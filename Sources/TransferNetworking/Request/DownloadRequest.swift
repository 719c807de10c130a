public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request whose answer goes to a file.
///
/// The body is written to a file in the temporary folder, and moved to its destination when it's whole. What came
/// before a failure or a cancellation stays there for ``resumeData``, where the server gave a validator by which the
/// rest can be asked for safely (RFC 9110 §13.1.5).
public final class DownloadRequest: Request, @unchecked Sendable {  // Its own state is behind a lock.
    /// Steps before the file is moved to its destination.
    public struct Options: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Makes the folders above the destination.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Takes the place of a file that is there.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// Says where a complete file belongs.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

    /// - Parameter fileURL: Where the complete file is for now: in the temporary folder.
    /// - Returns: Whether the answer is taken.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?) -> ValidationResult

    /// The thing that is downloaded.
    public enum Downloadable: Sendable {
        case request(any URLRequestConvertible)
        case resumeData(Data)
    }

    public let downloadable: Downloadable
    /// `nil` leaves the file in the temporary folder.
    public let destination: Destination?
    let files: DownloadFiles
    private let mutable = Mutex(Mutable())

    private struct Mutable {
        var cancellation = Cancellation.none
        var validators: [Validation] = []
        /// What monitors are told of the rules once they have been told of the end.
        var verdicts: [MonitorEvent] = []
        /// Those who wait for resume data.
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

    /// The data that `Session.download(resumingWith:)` takes, in this process or another; `nil` when there is nothing to go on
    /// from. There after a cancellation that asked for it, and after a failure.
    public var resumeData: Data? {
        switch mutable.withLock({ $0.cancellation }) {
        case .discarding: return nil
        case .none, .producing: break
        }
        guard let resume = files.resumable, let request = firstRequest ?? (try? makeURLRequest()) else { return nil }
        return DownloadResumption(request, resume).data
    }

    /// Where the file is, once it's whole.
    public var fileURL: URL? { files.saved }

    /// Cancels without resume data; what has come is removed.
    @discardableResult
    override public func cancel() -> Self { cancel(producingResumeData: false) }

    /// Cancels, and keeps what has come when `shouldProduceResumeData`.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        mutable.withLock { state in
            guard case .none = state.cancellation, !isFinished else { return }
            state.cancellation = shouldProduceResumeData ? .producing : .discarding
        }
        return super.cancel()
    }

    /// Cancels, keeps what has come, and hands over the resume data, on the session's queue; `nil` when there is none.
    @discardableResult
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
        mutable.withLock { state in
            switch state.cancellation {
            // Handlers are answered in any case; a cancellation that discards stays one.
            case .none where !isFinished: state.cancellation = .producing
            case .none, .discarding, .producing: break
            }
            state.handlers.append(completionHandler)
        }
        super.cancel()
        // What is being stopped has its resume data later; everything else is settled by now, or about to be.
        if read({ $0.lifecycle.state }) != .cancelled(.stopping) {
            session.rootQueue.async { self.answerCancellations() }
        }
        return self
    }

    /// Adds a rule that an answer has to pass before its file is given its place: what is refused replaces nothing at the
    /// destination, and is removed.
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
        // A class of the program's may want it.
        if session.protocols == nil, let file = LocalFile(request) { return Transfer(urlRequest: request, file: file) }
        var exchange = try ExchangeRequest(request, of: session)
        let (part, point) = try files.open(for: exchange.url)
        if let point { exchange.intent = .representation(point) }
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            // The file is to hold the representation itself, and offsets in it are to mean something: what the session
            // accepts for bodies in memory doesn't count here.
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

    /// Only a GET whose answer has a validator can be continued (RFC 9110 §13.1.5).
    override var isResumable: Bool {
        guard let record = read({ $0.running }), record.urlRequest.httpMethod == "GET", let head = record.start?.head
        else { return false }
        return (head.status == 200 || head.status == 206) && Validator(head)?.ifRange != nil
    }

    override var readsFiles: Bool { true }

    /// Without the head of an answer there is nothing for a destination to look at: the copy stays where it is, as in
    /// the original.
    override func receive(_ file: LocalFile, _ record: AttemptRecord) throws { try files.copy(file) }

    override var placesFiles: Bool { true }

    override func take(_ end: TransferEnd) -> AFError? {
        // A file that became whole while the request was cancelled isn't given to anybody either.
        guard let failure = end.failure ?? (isCancelled ? .explicitlyCancelled : nil) else { return nil }
        switch mutable.withLock({ $0.cancellation }) {
        case .discarding: files.discard()
        case .none, .producing: files.keep(end, method: request?.httpMethod ?? "GET")
        }
        return failure.carrying(resumeData)
    }

    override func place(_ end: TransferEnd) -> AFError? {
        // Cancelled while its rules were looked at.
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
