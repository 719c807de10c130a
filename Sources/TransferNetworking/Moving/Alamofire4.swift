public import Dispatch
public import Foundation
public import FoundationNetworking
public import TransferReachability

// The forms of Alamofire 4 that are no longer supported. The compiler names their replacements.

// MARK: Sessions

/// Alamofire 4's name for ``Session``.
@available(*, unavailable, renamed: "Session")
public typealias SessionManager = Session

extension Session {
    /// Alamofire 4's result of encoding a form; unavailable.
    @available(*, unavailable, message: "a form is made when the request starts, which fails where it cannot be made")
    public enum MultipartFormDataEncodingResult {
        case success(request: UploadRequest, streamingFromDisk: Bool, streamFileURL: URL?)
        case failure(any Error)
    }

    /// Alamofire 4's adapter of a session; unavailable.
    @available(*, unavailable, message: "give the session an interceptor: Session(interceptor:)")
    public var adapter: (any RequestAdapter)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's retrier of a session; unavailable.
    @available(*, unavailable, message: "give the session an interceptor: Session(interceptor:)")
    public var retrier: (any RequestRetrier)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's closure for background sessions; unavailable.
    @available(
        *, unavailable, message: "sessions in the background are Apple's; see JobQueue for transfers that continue"
    )
    public var backgroundCompletionHandler: (() -> Void)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's default header fields; unavailable.
    @available(*, unavailable, message: "use URLSessionConfiguration.af.default, which has HTTPHeaders.default")
    public static var defaultHTTPHeaders: [String: String] { [:] }

    /// Alamofire 4's upload of a form to a URL; unavailable.
    @available(
        *, unavailable,
        message: "a form is made when the request starts: upload(multipartFormData:to:) gives the request"
    )
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, usingThreshold threshold: UInt64 = 0,
        to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        encodingCompletion: ((Session.MultipartFormDataEncodingResult) -> Void)?
    ) {}

    /// Alamofire 4's upload of a form with a URL request; unavailable.
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

/// Alamofire 4's completion of a retrier; unavailable.
@available(*, unavailable, message: "a retrier decides by RetryResult: retry(_:for:dueTo:completion:)")
public typealias RequestRetryCompletion = (_ shouldRetry: Bool, _ timeDelay: TimeInterval) -> Void

extension Alamofire {
    /// Alamofire 4's upload of a form by the default session; unavailable.
    @available(
        *, unavailable,
        message: "a form is made when the request starts: AF.upload(multipartFormData:to:) gives the request"
    )
    public static func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, usingThreshold threshold: UInt64 = 0,
        to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        encodingCompletion: ((Session.MultipartFormDataEncodingResult) -> Void)?
    ) {}

    /// Alamofire 4's name for ``Session``.
    @available(*, unavailable, renamed: "Session")
    public typealias SessionManager = Session
}

// MARK: Requests

extension Request {
    /// Alamofire 4's form of ``authenticate(username:password:persistence:)``; unavailable.
    @available(*, unavailable, renamed: "authenticate(username:password:persistence:)")
    public func authenticate(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self { self }

    /// Does the same as ``authenticate(with:)``; some documents use this form.
    @discardableResult
    public func authenticate(usingCredential credential: URLCredential) -> Self { authenticate(with: credential) }

    /// Alamofire 4's field for Basic authentication; unavailable.
    @available(*, unavailable, message: "use HTTPHeader.authorization(username:password:)")
    public static func authorizationHeader(user: String, password: String) -> (key: String, value: String)? { nil }

    /// Alamofire 4's moments of a request; unavailable.
    @available(*, unavailable, message: "the attempts' metrics have its moments: metrics, allMetrics")
    public var timeline: Never { fatalError("unavailable") }  // The compiler refuses each use; a member needs a body.
}

extension DataRequest {
    /// Alamofire 4's name for `downloadProgress`; unavailable.
    @available(*, unavailable, renamed: "downloadProgress")
    public var progress: Progress { Progress(totalUnitCount: -1) }

    /// Alamofire 4's stream of a response; unavailable.
    @available(*, unavailable, message: "use AF.streamRequest(…).responseStream(stream:)")
    public func stream(closure: ((Data) -> Void)? = nil) -> Self { self }
}

extension DownloadRequest {
    /// Alamofire 4's name for ``Destination``.
    @available(*, unavailable, renamed: "Destination")
    public typealias DownloadFileDestination = Destination

    /// Alamofire 4's form of ``suggestedDownloadDestination(for:in:options:)``; unavailable.
    @available(*, unavailable, renamed: "suggestedDownloadDestination(for:in:options:)")
    public static func suggestedDownloadDestination(
        directory: FileManager.SearchPathDirectory, domain: FileManager.SearchPathDomainMask = .userDomainMask
    ) -> Destination { suggestedDownloadDestination() }

    /// Alamofire 4's name for ``Options``.
    @available(*, unavailable, renamed: "Options")
    public typealias DownloadOptions = Options

    /// Alamofire 4's name for `downloadProgress`; unavailable.
    @available(*, unavailable, renamed: "downloadProgress")
    public var progress: Progress { Progress(totalUnitCount: -1) }
}

// MARK: Responses

extension DataResponse {
    /// Alamofire 4's name for ``tryMap(_:)``; unavailable.
    @available(*, unavailable, renamed: "tryMap(_:)")
    public func flatMap<Value>(_ transform: (Success) throws -> Value) -> DataResponse<Value, any Error> {
        tryMap(transform)
    }

    /// Alamofire 4's moments of a response; unavailable.
    @available(*, unavailable, message: "the attempt's metrics have its moments: metrics")
    public var timeline: Never { fatalError("unavailable") }  // The compiler refuses each use; a member needs a body.
}

extension DownloadResponse {
    /// Alamofire 4's name for ``tryMap(_:)``; unavailable.
    @available(*, unavailable, renamed: "tryMap(_:)")
    public func flatMap<Value>(_ transform: (Success) throws -> Value) -> DownloadResponse<Value, any Error> {
        tryMap(transform)
    }

    /// Alamofire 4's moments of a response; unavailable.
    @available(*, unavailable, message: "the attempt's metrics have its moments: metrics")
    public var timeline: Never { fatalError("unavailable") }  // The compiler refuses each use; a member needs a body.

    /// Alamofire 4's name for ``fileURL``; unavailable.
    @available(*, unavailable, renamed: "fileURL")
    public var destinationURL: URL? { nil }

    /// Alamofire 4's temporary place of a file; unavailable.
    @available(*, unavailable, message: "a download that has no destination stays where fileURL says")
    public var temporaryURL: URL? { nil }
}

/// Alamofire 4's response without a serializer; unavailable.
@available(*, unavailable, message: "use DataResponse<Success, AFError>, or AFDataResponse<Success>")
public typealias DefaultDataResponse = DataResponse<Data?, AFError>

/// Alamofire 4's response of a download without a serializer; unavailable.
@available(*, unavailable, message: "use DownloadResponse<Success, AFError>, or AFDownloadResponse<Success>")
public typealias DefaultDownloadResponse = DownloadResponse<URL?, AFError>

extension Result where Failure == AFError {
    /// Alamofire 4's value of a result; unavailable.
    @available(*, unavailable, message: "the response has it: response.value")
    public var value: Success? { nil }

    /// Alamofire 4's error of a result; unavailable.
    @available(*, unavailable, message: "the response has it: response.error")
    public var error: AFError? { nil }

    /// Alamofire 4's test for success; unavailable.
    @available(*, unavailable, message: "look for a value: response.value != nil, or switch over the result")
    public var isSuccess: Bool { false }

    /// Alamofire 4's test for failure; unavailable.
    @available(*, unavailable, message: "look for an error: response.error != nil, or switch over the result")
    public var isFailure: Bool { false }
}

// MARK: Reachability

extension NetworkReachabilityManager {
    /// Alamofire 4's name for `status`; unavailable.
    @available(*, unavailable, renamed: "status")
    public var networkReachabilityStatus: NetworkReachabilityStatus { status }

    /// Alamofire 4's name for `isReachableOnCellular`; unavailable.
    @available(*, unavailable, renamed: "isReachableOnCellular")
    public var isReachableOnWWAN: Bool { false }

    /// Alamofire 4's listener; unavailable.
    @available(*, unavailable, message: "give it to startListening(onQueue:onUpdatePerforming:)")
    public var listener: Listener? {
        get { nil }
        set {}
    }

    /// Alamofire 4's queue of the listener; unavailable.
    @available(*, unavailable, message: "give it to startListening(onQueue:onUpdatePerforming:)")
    public var listenerQueue: DispatchQueue { .main }

    /// Alamofire 4's start without a listener; unavailable.
    @available(*, unavailable, message: "use startListening(onQueue:onUpdatePerforming:), which takes the listener")
    public func startListening() -> Bool { false }
}

extension NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType {
    /// Alamofire 4's name for `cellular`; unavailable.
    @available(*, unavailable, renamed: "cellular")
    public static var wwan: Self { .cellular }
}
