public import Dispatch
public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine
import TransferReachability

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The default session, `Session.default`, under Alamofire's name.
public let AF = Session.default

/// A creator of requests that share one configuration and one set of connections.
///
/// Requests keep their session, except for those that it prepared eagerly and that were not started: they end with it.
/// The connections are closed when the session and its last request are released.
///
/// `@unchecked Sendable`, as an open class: its properties are constant or protected by a lock.
open class Session: @unchecked Sendable {
    /// The session with default settings.
    public static let `default` = Session()

    /// The settings of all requests.
    public let settings: SessionSettings
    /// The delegate, which carries the file manager.
    public let delegate: SessionDelegate
    let parts: SessionParts
    let active = ActiveRequests()
    let connectivity = ConnectivityWatch()
    let authenticationMemory = AuthenticationMemory()
    let lazyEngine = Mutex<ExchangeEngine?>(nil)
    let lazyRules = Mutex<TLSRules?>(nil)
    let lastSettings = Mutex(LastSettings())
    let lastTask = Atomic(0)

    /// - Parameters:
    ///   - settings: The settings of all requests.
    ///   - configuration: The configuration that ``session`` shows; only the settings have an effect. `nil` creates a
    ///     default one on demand.
    public init(
        _ settings: SessionSettings, configuration: URLSessionConfiguration? = nil,
        delegate: SessionDelegate = SessionDelegate()
    ) {
        self.settings = settings
        parts = settings.inherited ?? SessionParts(settings, configuration)
        self.delegate = delegate
    }

    /// Creates a session that has a `URLSession`'s configuration, and that `URLSession` as the value of ``session``.
    public init(
        session: URLSession, delegate: SessionDelegate, rootQueue: DispatchQueue,
        startRequestsImmediately: Bool = true, requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil, serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil, cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    ) {
        let configuration = session.configuration
        settings = SessionSettings(
            configuration, rootQueue, startRequestsImmediately, requestSetup, requestQueue, serializationQueue,
            interceptor, serverTrustManager, redirectHandler, cachedResponseHandler, eventMonitors)
        parts = SessionParts(settings, configuration, session)
        self.delegate = delegate
    }

    deinit {
        for request in active.all { request.sessionReleased() }
        lazyEngine.withLock { $0 }?.shutDown()
        guard settings.inherited == nil, let monitors else { return }
        let session = carrier(of: nil)
        monitors.emit(MonitorEvent { $0.urlSession(session, didBecomeInvalidWithError: nil) })
    }

    // MARK: In memory, and piece by piece
    /// Creates a request whose response is kept in memory; it starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - convertible: A URL with the scheme `http` or `https`.
    ///   - parameters: The parameters; `encoding` adds them to the query of GET, HEAD and DELETE, else to the body.
    ///   - interceptor: The request's own interceptor, called after the session's.
    ///   - requestModifier: A closure that changes the URL request before the parameters are added.
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

    /// Creates a request whose response is kept in memory; it starts when a response handler is added.
    ///
    /// - Parameters:
    ///   - convertible: A URL with the scheme `http` or `https`.
    ///   - parameters: The parameters; `encoder` adds them to the query of GET, HEAD and DELETE, else to the body.
    ///   - interceptor: The request's own interceptor, called after the session's.
    ///   - requestModifier: A closure that changes the URL request before the parameters are added.
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

    /// Creates a request whose response is kept in memory; it starts when a response handler is added.
    open func request(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        made(
            DataRequest(
                convertible: convertible, session: self, RequestOptions(interceptor, shouldAutomaticallyResume)))
    }

    /// Creates a request whose response is delivered piece by piece.
    ///
    /// - Parameters:
    ///   - automaticallyCancelOnStreamError: Whether a piece that cannot be serialized cancels the request.
    ///   - interceptor: The request's own interceptor, called after the session's.
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

    /// Creates a request whose response is delivered piece by piece.
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

    /// Creates a request whose response is delivered piece by piece.
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

    /// Creates a request whose response is written to a file.
    ///
    /// - Parameters:
    ///   - convertible: A URL with the scheme `http` or `https`.
    ///   - parameters: The parameters, which `encoding` adds.
    ///   - interceptor: The request's own interceptor, called after the session's.
    ///   - destination: The closure that chooses the file's place; a file in the temporary folder by default.
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

    /// Creates a request whose response is written to a file.
    ///
    /// - Parameters:
    ///   - convertible: A URL with the scheme `http` or `https`.
    ///   - parameters: The parameters, which `encoder` adds.
    ///   - interceptor: The request's own interceptor, called after the session's.
    ///   - destination: The closure that chooses the file's place; a file in the temporary folder by default.
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

    /// Creates a request whose response is written to a file.
    ///
    /// - Parameter destination: The closure that chooses the file's place; a file in the temporary folder by default.
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

    /// Continues a download, including one of an earlier process.
    ///
    /// Bytes are only continued when the server confirms that the file is unchanged. Otherwise the download starts
    /// again, so that two versions are never mixed.
    ///
    /// - Parameter data: The resume data, from ``DownloadRequest/resumeData``.
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

    /// Creates a request that sends bytes.
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

    /// Creates a request that sends bytes.
    open func upload(
        _ data: Data, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .ready(.data(data)), convertible,
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Creates a request that sends a file, directly from the disk.
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

    /// Creates a request that sends a file, directly from the disk.
    open func upload(
        _ fileURL: URL, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .ready(.file(fileURL, shouldRemove: false)), convertible,
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Creates a request that sends the bytes of a stream, in bounded memory.
    ///
    /// A stream can be read once. A further attempt, or a redirect that repeats the body, therefore fails; a closure
    /// that makes streams avoids that. A `Content-Length` in the headers is announced; without one the body is sent in
    /// chunks.
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

    /// Creates a request that sends the bytes of a stream, in bounded memory. The stream can be read once.
    open func upload(
        _ stream: InputStream, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .ready(.stream(stream)), convertible,
            RequestOptions(interceptor, shouldAutomaticallyResume), fileManager)
    }

    /// Creates a request that sends the bytes of streams, in bounded memory, with a new stream each time.
    ///
    /// - Parameter makeStream: A closure called on a worker for every attempt, and for redirects that repeat the body.
    ///   Every stream has to contain the same bytes.
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

    /// Creates a request that sends a form (RFC 7578).
    ///
    /// - Parameters:
    ///   - multipartFormData: A closure that adds the form's parts, called on a worker.
    ///   - encodingMemoryThreshold: The size, in bytes, from which a form is sent from the disk.
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

    /// Creates a request that sends a form (RFC 7578).
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

    /// Creates a request that sends a form (RFC 7578).
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

    /// Creates a request that sends a form (RFC 7578).
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
