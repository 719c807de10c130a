public import Dispatch
public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine
import TransferReachability

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The session that `Session.default` is, under the name that documented programs use.
public let AF = Session.default

/// Makes requests that share one configuration and one set of connections.
///
/// A session only builds requests; what they do with the network is theirs. Requests that are under way keep their
/// session; when the last of both is gone, its connections are closed.
///
/// `@unchecked Sendable`, as an open class: everything in it is constant or behind a lock.
open class Session: @unchecked Sendable {
    public static let `default` = Session()

    public let settings: SessionSettings
    public let delegate: SessionDelegate
    /// The queue on which retriers and validations are called.
    public let rootQueue: DispatchQueue
    /// The queue on which URL requests are made and adapted.
    public let requestQueue: DispatchQueue
    /// The queue on which responses are serialized.
    public let serializationQueue: DispatchQueue
    /// Whether there are monitors that are told of everything, asked or not.
    let isObserved: Bool
    /// Tells all monitors of the session.
    public let eventMonitor: CompositeEventMonitor
    let active = ActiveRequests()
    let hosts: HostSlots
    let connectivity = ConnectivityWatch()
    let cache: SessionCache?
    let authenticationMemory = AuthenticationMemory()
    let cookies: SessionCookies?
    let protocols: ProtocolClasses?
    let lazyConfiguration: Mutex<URLSessionConfiguration?>
    let lazyEngine = Mutex<ExchangeEngine?>(nil)
    let lazyRules = Mutex<TLSRules?>(nil)
    let lastSettings = Mutex(LastSettings())
    let foundation = Mutex<URLSession?>(nil)
    let lastTask = Atomic(0)

    /// - Parameters:
    ///   - settings: What holds for all requests.
    ///   - configuration: What ``session`` carries; the settings are what counts. `nil` stands for a default one, which
    ///     is made when somebody asks for it.
    public init(
        _ settings: SessionSettings, configuration: URLSessionConfiguration? = nil,
        delegate: SessionDelegate = SessionDelegate()
    ) {
        self.settings = settings
        lazyConfiguration = Mutex(configuration)
        self.delegate = delegate
        let root = settings.rootQueue ?? DispatchQueue(label: "transferkit.session.root")
        rootQueue = root
        requestQueue = settings.requestQueue ?? DispatchQueue(label: "transferkit.session.requests", target: root)
        serializationQueue = settings.serializationQueue ?? DispatchQueue(label: "transferkit.session.serialization")
        isObserved = settings.eventMonitors.contains { !($0 is AlamofireNotifications) }
        eventMonitor = CompositeEventMonitor(monitors: settings.eventMonitors)
        cache = settings.cache.map { SessionCache($0) }
        cookies = SessionCookies(settings.cookies)
        protocols = ProtocolClasses(settings.protocolClasses)
        hosts = HostSlots(limit: settings.maximumConnectionsPerHost)
    }

    deinit {
        lazyEngine.withLock { $0 }?.shutDown()
        guard let monitors else { return }
        let session = foundation.withLock { $0 } ?? CarrierSession(configuration: configuration, owner: nil)
        monitors.emit(MonitorEvent { $0.urlSession(session, didBecomeInvalidWithError: nil) })
    }

    // MARK: In memory, and piece by piece

    /// A request whose answer is kept in memory; it starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoding`: into the query of GET, HEAD and DELETE, else into the body.
    ///   - interceptor: Called before the session's.
    ///   - requestModifier: Changes the URL request before the parameters are put in.
    @preconcurrency
    open func request(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            parts(convertible, method, headers, requestModifier, parameters, encoding),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose answer is kept in memory; it starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoder`: into the query of GET, HEAD and DELETE, else into the body.
    ///   - interceptor: Called before the session's.
    ///   - requestModifier: Changes the URL request before the parameters are put in.
    @preconcurrency
    open func request<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            parts(convertible, method, headers, requestModifier, parameters, encoder),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose answer is kept in memory; it starts when a response handler is added.
    open func request(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        made(
            DataRequest(
                convertible: convertible, session: self, RequestOptions(interceptor, shouldAutomaticallyResume)))
    }

    /// A request whose answer is handed on piece by piece.
    ///
    /// - Parameters:
    ///   - automaticallyCancelOnStreamError: Whether a piece that can't be serialized ends the request.
    ///   - interceptor: Called before the session's.
    @preconcurrency
    open func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            parts(convertible, method, headers, requestModifier, parameters, encoder),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose answer is handed on piece by piece.
    @preconcurrency
    open func streamRequest(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose answer is handed on piece by piece.
    open func streamRequest(
        _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        made(
            DataStreamRequest(
                convertible: convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
                session: self, RequestOptions(interceptor, shouldAutomaticallyResume)))
    }

    // MARK: Into files

    /// A request whose answer goes to a file.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoding`.
    ///   - interceptor: Called before the session's.
    ///   - destination: Where the file belongs; a file in the temporary folder by default.
    @preconcurrency
    open func download(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            parts(convertible, method, headers, requestModifier, parameters, encoding),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// A request whose answer goes to a file.
    ///
    /// - Parameters:
    ///   - convertible: `http` or `https`.
    ///   - parameters: Put in by `encoder`.
    ///   - interceptor: Called before the session's.
    ///   - destination: Where the file belongs; a file in the temporary folder by default.
    @preconcurrency
    open func download<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            parts(convertible, method, headers, requestModifier, parameters, encoder),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// A request whose answer goes to a file.
    ///
    /// - Parameter destination: Where the file belongs; a file in the temporary folder by default.
    @preconcurrency
    open func download(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        made(
            DownloadRequest(
                downloadable: .request(convertible), session: self,
                RequestOptions(interceptor, shouldAutomaticallyResume), destination: destination))
    }

    /// Goes on with a download, also one of an earlier process.
    ///
    /// Bytes are only continued when the server confirms that the file is still the same; else it starts again, and
    /// never mixes two versions.
    ///
    /// - Parameter data: From ``DownloadRequest/resumeData``.
    @preconcurrency
    open func download(
        resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        made(
            DownloadRequest(
                downloadable: .resumeData(data), session: self, RequestOptions(interceptor, shouldAutomaticallyResume),
                destination: destination))
    }

    // MARK: Uploads

    /// Sends bytes.
    @preconcurrency
    open func upload(
        _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            data, with: RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Sends bytes.
    open func upload(
        _ data: Data, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .ready(.data(data)), convertible,
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Sends a file, straight from the disk.
    @preconcurrency
    open func upload(
        _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            fileURL, with: RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Sends a file, straight from the disk.
    open func upload(
        _ fileURL: URL, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .ready(.file(fileURL, shouldRemove: false)), convertible,
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Sends what a stream gives, in bounded memory.
    ///
    /// A stream can be read once: an attempt after the first, or a redirect that wants the body again, fails. Where
    /// that matters, give a closure that makes streams. The length is announced when the headers have a
    /// `Content-Length`; else the body is sent in chunks.
    @preconcurrency
    open func upload(
        _ stream: InputStream, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            stream, with: RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Sends what a stream gives, in bounded memory; it can be read once.
    open func upload(
        _ stream: InputStream, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .ready(.stream(stream)), convertible,
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Sends what streams give, in bounded memory: a fresh one for each time the body has to be sent.
    ///
    /// - Parameter makeStream: Called on a worker, for the first attempt, for each that follows, and for redirects that
    ///   repeat the body; every stream has to give the same bytes.
    @preconcurrency
    open func upload(
        streamedBy makeStream: @escaping @Sendable () throws -> InputStream, to convertible: any URLConvertible,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .streams(makeStream),
            RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Sends a form (RFC 7578).
    ///
    /// - Parameters:
    ///   - multipartFormData: Adds the form's parts; called on a worker.
    ///   - encodingMemoryThreshold: Bytes; a longer form is sent from the disk.
    @preconcurrency
    open func upload(
        multipartFormData: @escaping @Sendable (MultipartFormData) -> Void, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: RequestParts(url: url, method: method, headers: headers, modify: requestModifier),
            usingThreshold: encodingMemoryThreshold, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Sends a form (RFC 7578).
    @preconcurrency
    open func upload(
        multipartFormData: @escaping @Sendable (MultipartFormData) -> Void, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        form(
            MultipartFormData(fileManager: delegate.manager(insteadOf: fileManager)), multipartFormData, request,
            encodingMemoryThreshold,
            RequestOptions(interceptor, shouldAutomaticallyResume))
    }

    /// Sends a form (RFC 7578).
    @preconcurrency
    open func upload(
        multipartFormData: MultipartFormData, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: RequestParts(url: url, method: method, headers: headers, modify: requestModifier),
            usingThreshold: encodingMemoryThreshold, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Sends a form (RFC 7578).
    open func upload(
        multipartFormData: MultipartFormData, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        form(
            multipartFormData, nil, request, encodingMemoryThreshold,
            RequestOptions(interceptor, shouldAutomaticallyResume))
    }
}
