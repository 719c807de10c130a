public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request whose response is kept in memory.
public class DataRequest: Request, @unchecked Sendable {  // Its own state is behind a lock.
    /// A closure that validates a response.
    ///
    /// - Returns: Whether the response is accepted.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ data: Data?) -> ValidationResult

    private struct Answer {
        var received: ReceivedData?
        var validators: [Validation] = []
        var hook = ResponseHook()
    }

    /// The source of the URL request.
    public let convertible: any URLRequestConvertible
    private let answer = Mutex(Answer())

    init(convertible: any URLRequestConvertible, session: Session, _ options: RequestOptions) {
        self.convertible = convertible
        super.init(session: session, options)
    }

    /// The body of the response; `nil` before its first byte.
    public var data: Data? { answer.withLock { $0.received }?.data }

    /// Adds a validation that a response has to pass.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        answer.withLock { $0.validators.append(validation) }
        return self
    }

    override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

    override var makesURLRequestQuickly: Bool { convertible.isQuick }

    /// Returns the body that is sent in place of the URL request's own.
    func requestBody(_ request: URLRequest) throws -> RequestBody? { nil }

    override func makeTransfer(_ request: URLRequest) throws -> Transfer {
        // A `URLProtocol` of the program may claim the URL.
        if readsFiles, session.protocols == nil, let file = LocalFile(request) {
            return Transfer(urlRequest: request, file: file)
        }
        var exchange = try ExchangeRequest(request, of: session, body: try requestBody(request))
        // The cached response depends on the credentials.
        authenticate(&exchange)
        let cached = kind == .data ? session.cachedExchange(request, &exchange) : nil
        let received = ReceivedData()
        answer.withLock { $0.received = received }
        return Transfer(urlRequest: request, exchange: exchange, cached: cached) { [self] record in
            ReceivedData.Sink(received, gate: record.gate, cached: record.cached, tap: tap(record))
        }
    }

    /// Returns a closure that shows monitors the pieces of the body as they arrive.
    private func tap(_ record: AttemptRecord) -> ((Data) -> Void)? {
        guard isMonitored else { return nil }
        return { [self] data in emit(record) { $0.dataTask($1, $2, didReceive: data) } }
    }

    override var readsFiles: Bool { kind == .data }

    override func receive(_ file: LocalFile, _ record: AttemptRecord) throws {
        let data = try file.read(session.delegate.fileManager)
        answer.withLock { $0.received = ReceivedData() }
        received(data, record)
    }

    override var receivedBody: Data? { data }

    override func received(_ body: Data, _ record: AttemptRecord) {
        answer.withLock { $0.received }?.set(body)
        if !body.isEmpty { tap(record)?(body) }
    }

    // MARK: The head of the response

    override func responded(_ record: AttemptRecord) { answer.withLock { $0.hook }.responded(record, self) }

    func onResponse(_ change: (inout ResponseHook) -> Void) { answer.withLock { change(&$0.hook) } }

    // MARK: The end

    override var hasValidators: Bool { answer.withLock { !$0.validators.isEmpty } }

    override func validate(_ response: HTTPURLResponse) throws {
        let (data, request) = (data, request)
        for validator in answer.withLock({ $0.validators }) {
            let result = validator(request, response, data)
            emit(
                MonitorEvent { [self] in
                    $0.request(
                        self, didValidateRequest: request, response: response, data: data, withResult: result)
                })
            try result.get()
        }
    }

    override var body: EndedRequest.Body { .data(data) }
}

extension EventMonitor {
    /// Reports a piece of a body. The class of a task is its kind; tasks of other kinds are not reported.
    func dataTask(_ session: URLSession, _ task: URLSessionTask, didReceive data: Data) {
        guard let task = task as? URLSessionDataTask else { return }
        urlSession(session, dataTask: task, didReceive: data)
    }

    func dataTask(_ session: URLSession, _ task: URLSessionTask, didReceive response: URLResponse) {
        guard let task = task as? URLSessionDataTask else { return }
        urlSession(session, dataTask: task, didReceive: response)
    }
}
