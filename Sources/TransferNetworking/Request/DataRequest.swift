public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request whose answer is kept in memory.
public class DataRequest: Request, @unchecked Sendable {  // Its own state is behind a lock.
    /// - Returns: Whether the answer is taken.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ data: Data?) -> ValidationResult

    private struct Answer {
        var received: ReceivedData?
        var validators: [Validation] = []
    }

    /// What the request is made of.
    public let convertible: any URLRequestConvertible
    private let answer = Mutex(Answer())

    init(convertible: any URLRequestConvertible, session: Session, interceptor: (any RequestInterceptor)?) {
        self.convertible = convertible
        super.init(session: session, interceptor: interceptor)
    }

    /// The body of the answer; `nil` while there is none.
    public var data: Data? { answer.withLock { $0.received }?.data }

    /// Adds a rule that an answer has to pass.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        answer.withLock { $0.validators.append(validation) }
        return self
    }

    override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

    /// The body to send instead of the URL request's own.
    func requestBody() throws -> RequestBody? { nil }

    override func makeTransfer(_ request: URLRequest) throws -> Transfer {
        let exchange = try ExchangeRequest(request, settings: session.settings, body: try requestBody())
        let received = ReceivedData()
        answer.withLock { $0.received = received }
        return Transfer(exchange: exchange) { ReceivedData.Sink(received) }
    }

    override func validate(_ response: HTTPURLResponse) throws {
        let data = data
        for validator in answer.withLock({ $0.validators }) { try validator(request, response, data).get() }
    }

    override var body: EndedRequest.Body { .data(data) }
}

/// A request that sends a body of its own.
public final class UploadRequest: DataRequest, @unchecked Sendable {  // Adds only constants.
    /// What is sent.
    public enum Uploadable: Sendable {
        case data(Data)
        case file(URL)
    }

    public let uploadable: Uploadable

    init(
        _ uploadable: Uploadable, convertible: any URLRequestConvertible, session: Session,
        interceptor: (any RequestInterceptor)?
    ) {
        self.uploadable = uploadable
        super.init(convertible: convertible, session: session, interceptor: interceptor)
    }

    override var touchesFiles: Bool {
        if case .file = uploadable { return true }
        return false
    }

    override func requestBody() throws -> RequestBody? {
        switch uploadable {
        case .data(let data): return .bytes([UInt8](data))
        case .file(let url):
            do { return .file(try SourceFile(url.path)) } catch { throw AFError.createUploadableFailed(error: error) }
        }
    }
}
