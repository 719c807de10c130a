public import Dispatch
public import Foundation
public import FoundationNetworking
public import TransferReachability

// The forms of Alamofire 4 that are gone: the compiler says what stands in their place.

// MARK: Sessions

@available(*, unavailable, renamed: "Session")
public typealias SessionManager = Session

extension Session {
    @available(*, unavailable, message: "a form is made when the request starts, which fails where it can't be made")
    public enum MultipartFormDataEncodingResult {
        case success(request: UploadRequest, streamingFromDisk: Bool, streamFileURL: URL?)
        case failure(any Error)
    }

    @available(*, unavailable, message: "give the session an interceptor: Session(interceptor:)")
    public var adapter: (any RequestAdapter)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "give the session an interceptor: Session(interceptor:)")
    public var retrier: (any RequestRetrier)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "sessions in the background are Apple's; see JobQueue for transfers that go on")
    public var backgroundCompletionHandler: (() -> Void)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "use URLSessionConfiguration.af.default, which has HTTPHeaders.default")
    public static var defaultHTTPHeaders: [String: String] { [:] }

    @available(
        *, unavailable,
        message: "a form is made when the request starts: upload(multipartFormData:to:) gives the request"
    )
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, usingThreshold threshold: UInt64 = 0,
        to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        encodingCompletion: ((Session.MultipartFormDataEncodingResult) -> Void)?
    ) {}

    @available(
        *, unavailable,
        message: "a form is made when the request starts: upload(multipartFormData:with:) gives the request"
    )
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, usingThreshold threshold: UInt64 = 0,
        with urlRequest: any URLRequestConvertible,
        encodingCompletion: ((Session.MultipartFormDataEncodingResult) -> Void)?
    ) {}
}

@available(*, unavailable, message: "a retrier decides by RetryResult: retry(_:for:dueTo:completion:)")
public typealias RequestRetryCompletion = (_ shouldRetry: Bool, _ timeDelay: TimeInterval) -> Void

extension Alamofire {
    @available(
        *, unavailable,
        message: "a form is made when the request starts: AF.upload(multipartFormData:to:) gives the request"
    )
    public static func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, usingThreshold threshold: UInt64 = 0,
        to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        encodingCompletion: ((Session.MultipartFormDataEncodingResult) -> Void)?
    ) {}

    @available(*, unavailable, renamed: "Session")
    public typealias SessionManager = Session
}

// MARK: Requests

extension Request {
    @available(*, unavailable, renamed: "authenticate(username:password:persistence:)")
    public func authenticate(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self { self }

    /// ``authenticate(with:)``, as some documents write it.
    @discardableResult
    public func authenticate(usingCredential credential: URLCredential) -> Self { authenticate(with: credential) }

    @available(*, unavailable, message: "use HTTPHeader.authorization(username:password:)")
    public static func authorizationHeader(user: String, password: String) -> (key: String, value: String)? { nil }

    @available(*, unavailable, message: "the attempts' metrics have its moments: metrics, allMetrics")
    public var timeline: Never { fatalError("unavailable") }  // The compiler refuses each use; a member needs a body.
}

extension DataRequest {
    @available(*, unavailable, renamed: "downloadProgress")
    public var progress: Progress { Progress(totalUnitCount: -1) }

    @available(*, unavailable, message: "use AF.streamRequest(…).responseStream(stream:)")
    public func stream(closure: ((Data) -> Void)? = nil) -> Self { self }
}

extension DownloadRequest {
    @available(*, unavailable, renamed: "Destination")
    public typealias DownloadFileDestination = Destination

    @available(*, unavailable, renamed: "suggestedDownloadDestination(for:in:options:)")
    public static func suggestedDownloadDestination(
        directory: FileManager.SearchPathDirectory, domain: FileManager.SearchPathDomainMask = .userDomainMask
    ) -> Destination { suggestedDownloadDestination() }

    @available(*, unavailable, renamed: "Options")
    public typealias DownloadOptions = Options

    @available(*, unavailable, renamed: "downloadProgress")
    public var progress: Progress { Progress(totalUnitCount: -1) }
}

// MARK: Responses

extension DataResponse {
    @available(*, unavailable, renamed: "tryMap(_:)")
    public func flatMap<Value>(_ transform: (Success) throws -> Value) -> DataResponse<Value, any Error> {
        tryMap(transform)
    }

    @available(*, unavailable, message: "the attempt's metrics have its moments: metrics")
    public var timeline: Never { fatalError("unavailable") }  // The compiler refuses each use; a member needs a body.
}

extension DownloadResponse {
    @available(*, unavailable, renamed: "tryMap(_:)")
    public func flatMap<Value>(_ transform: (Success) throws -> Value) -> DownloadResponse<Value, any Error> {
        tryMap(transform)
    }

    @available(*, unavailable, message: "the attempt's metrics have its moments: metrics")
    public var timeline: Never { fatalError("unavailable") }  // The compiler refuses each use; a member needs a body.

    @available(*, unavailable, renamed: "fileURL")
    public var destinationURL: URL? { nil }

    @available(*, unavailable, message: "a download that has no destination stays where fileURL says")
    public var temporaryURL: URL? { nil }
}

@available(*, unavailable, message: "use DataResponse<Success, AFError>, or AFDataResponse<Success>")
public typealias DefaultDataResponse = DataResponse<Data?, AFError>

@available(*, unavailable, message: "use DownloadResponse<Success, AFError>, or AFDownloadResponse<Success>")
public typealias DefaultDownloadResponse = DownloadResponse<URL?, AFError>

extension Result where Failure == AFError {
    @available(*, unavailable, message: "the response has it: response.value")
    public var value: Success? { nil }

    @available(*, unavailable, message: "the response has it: response.error")
    public var error: AFError? { nil }

    @available(*, unavailable, message: "look for a value: response.value != nil, or switch over the result")
    public var isSuccess: Bool { false }

    @available(*, unavailable, message: "look for an error: response.error != nil, or switch over the result")
    public var isFailure: Bool { false }
}

// MARK: Reachability

extension NetworkReachabilityManager {
    @available(*, unavailable, renamed: "status")
    public var networkReachabilityStatus: NetworkReachabilityStatus { status }

    @available(*, unavailable, renamed: "isReachableOnCellular")
    public var isReachableOnWWAN: Bool { false }

    @available(*, unavailable, message: "give it to startListening(onQueue:onUpdatePerforming:)")
    public var listener: Listener? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "give it to startListening(onQueue:onUpdatePerforming:)")
    public var listenerQueue: DispatchQueue { .main }

    @available(*, unavailable, message: "use startListening(onQueue:onUpdatePerforming:), which takes the listener")
    public func startListening() -> Bool { false }
}

extension NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType {
    @available(*, unavailable, renamed: "cellular")
    public static var wwan: Self { .cellular }
}
