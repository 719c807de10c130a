import Foundation
public import TransferReachability

/// A namespace with the name of Alamofire's module, so that types written with it (`Alamofire.Session`) are found.
public enum Alamofire {
    /// An adapter made from a closure.
    public typealias Adapter = TransferNetworking.Adapter
    /// A closure that adapts a URL request, as ``RequestAdapter`` does.
    public typealias AdaptHandler = TransferNetworking.AdaptHandler
    /// A response whose failures are `AFError`s.
    public typealias AFDataResponse<Success> = TransferNetworking.AFDataResponse<Success>
    /// A response of a download whose failures are `AFError`s.
    public typealias AFDownloadResponse<Success> = TransferNetworking.AFDownloadResponse<Success>
    /// The failure of a request.
    public typealias AFError = TransferNetworking.AFError
    /// The facts about the library itself.
    public typealias AFInfo = TransferNetworking.AFInfo
    /// A result whose failures are `AFError`s.
    public typealias AFResult<Success> = TransferNetworking.AFResult<Success>
    /// A monitor that posts the events of requests as notifications, on the main queue.
    public typealias AlamofireNotifications = TransferNetworking.AlamofireNotifications
    /// A type with additions in the namespace `af`.
    public typealias AlamofireExtended = TransferNetworking.AlamofireExtended
    /// A namespace, `af`, for additions to types of other libraries, apart from their own members.
    public typealias AlamofireExtension<ExtendedType> = TransferNetworking.AlamofireExtension<ExtendedType>
    /// A credential that authenticates requests: a token and its attributes.
    public typealias AuthenticationCredential = TransferNetworking.AuthenticationCredential
    /// The reason why an ``AuthenticationInterceptor`` has no credential for a request.
    public typealias AuthenticationError = TransferNetworking.AuthenticationError
    /// An interceptor that adds a credential to requests.
    public typealias AuthenticationInterceptor<AuthenticatorType: Authenticator> = TransferNetworking
        .AuthenticationInterceptor<AuthenticatorType>
    /// The authentication of a service's requests, for an ``AuthenticationInterceptor``.
    public typealias Authenticator = TransferNetworking.Authenticator
    /// A handler that decides how responses to data requests are stored in the session's cache.
    public typealias CachedResponseHandler = TransferNetworking.CachedResponseHandler
    /// A monitor with closures, which must be set before the monitor is passed to a session.
    public typealias ClosureEventMonitor = TransferNetworking.ClosureEventMonitor
    /// A monitor that passes every event on to several monitors, to each on its own queue.
    public typealias CompositeEventMonitor = TransferNetworking.CompositeEventMonitor
    /// An evaluator that combines several evaluators, all of which have to accept the server.
    public typealias CompositeTrustEvaluator = TransferNetworking.CompositeTrustEvaluator
    /// A policy that retries idempotent requests whose connection was lost, and no others.
    public typealias ConnectionLostRetryPolicy = TransferNetworking.ConnectionLostRetryPolicy
    /// A decoder of values from bytes, such as Foundation's decoders.
    public typealias DataDecoder = TransferNetworking.DataDecoder
    /// A preprocessor that changes the bytes of a response before they are serialized.
    public typealias DataPreprocessor = TransferNetworking.DataPreprocessor
    /// A request whose response is kept in memory.
    public typealias DataRequest = TransferNetworking.DataRequest
    /// The result of a `DataRequest` or `UploadRequest`, in the form that a handler asked for.
    public typealias DataResponse<Success, Failure: Error> = TransferNetworking.DataResponse<Success, Failure>
    /// A serializer that returns the body itself, or no bytes for a response that may be empty.
    public typealias DataResponseSerializer = TransferNetworking.DataResponseSerializer
    /// A serializer that makes a value of the response to a `DataRequest`.
    public typealias DataResponseSerializerProtocol = TransferNetworking.DataResponseSerializerProtocol
    /// A request whose response is delivered piece by piece as it arrives, and not stored.
    public typealias DataStreamRequest = TransferNetworking.DataStreamRequest
    /// A serializer that makes a value of each piece of a stream.
    public typealias DataStreamSerializer = TransferNetworking.DataStreamSerializer
    /// The source of a `DataStreamRequest`'s streams; each observer has its own stream.
    public typealias DataStreamTask = TransferNetworking.DataStreamTask
    /// A task that awaits one form of the response to a `DataRequest` or `UploadRequest`, any number of times.
    public typealias DataTask<Value: Sendable> = TransferNetworking.DataTask<Value>
    /// A serializer that decodes the body.
    public typealias DecodableResponseSerializer<Value: Decodable & Sendable> = TransferNetworking
        .DecodableResponseSerializer<Value>
    /// A serializer that decodes each piece, for servers that send one value at a time.
    public typealias DecodableStreamSerializer<Value: Decodable & Sendable> = TransferNetworking
        .DecodableStreamSerializer<Value>
    /// An evaluator that works as a session without a manager: by the chain to a trusted authority, and by the host.
    public typealias DefaultTrustEvaluator = TransferNetworking.DefaultTrustEvaluator
    /// An interceptor that compresses request bodies with the `deflate` content coding (RFC 9110 §8.4.1.2).
    public typealias DeflateRequestCompressor = TransferNetworking.DeflateRequestCompressor
    /// An evaluator that trusts every server, so that any machine on the route can read and change all data.
    public typealias DisabledTrustEvaluator = TransferNetworking.DisabledTrustEvaluator
    /// A request whose response is written to a file.
    public typealias DownloadRequest = TransferNetworking.DownloadRequest
    /// The result of a `DownloadRequest`, in the form that a handler asked for.
    public typealias DownloadResponse<Success, Failure: Error> = TransferNetworking.DownloadResponse<Success, Failure>
    /// A serializer that makes a value of the file of a `DownloadRequest`.
    public typealias DownloadResponseSerializerProtocol = TransferNetworking.DownloadResponseSerializerProtocol
    /// A task that awaits one form of the file of a `DownloadRequest`, any number of times.
    public typealias DownloadTask<Value: Sendable> = TransferNetworking.DownloadTask<Value>
    /// The value of a response without a body, for requests that expect none.
    public typealias Empty = TransferNetworking.Empty
    /// A type with a value for responses without a body.
    public typealias EmptyResponse = TransferNetworking.EmptyResponse
    /// An observer of the events inside a session and its requests, in their order.
    public typealias EventMonitor = TransferNetworking.EventMonitor
    /// A preprocessor that removes the line `)]}',` in front of JSON.
    public typealias GoogleXSSIPreprocessor = TransferNetworking.GoogleXSSIPreprocessor
    /// One header field: a name and a value.
    public typealias HTTPHeader = TransferNetworking.HTTPHeader
    /// The header fields in the order of their addition.
    public typealias HTTPHeaders = TransferNetworking.HTTPHeaders
    /// An HTTP method (RFC 9110 §9).
    public typealias HTTPMethod = TransferNetworking.HTTPMethod
    /// An interceptor that combines several adapters and retriers.
    public typealias Interceptor = TransferNetworking.Interceptor
    /// An encoding that sends a dictionary, or any JSON value, as a JSON body.
    public typealias JSONEncoding = TransferNetworking.JSONEncoding
    /// An encoder that sends parameters as a JSON body.
    public typealias JSONParameterEncoder = TransferNetworking.JSONParameterEncoder
    /// A serializer that parses the body as JSON by `JSONSerialization`, or returns `NSNull` for a response that may be
    /// empty.
    public typealias JSONResponseSerializer = TransferNetworking.JSONResponseSerializer
    /// A builder for the body of a form with files (`multipart/form-data`, RFC 7578).
    public typealias MultipartFormData = TransferNetworking.MultipartFormData
    /// The reachability of the network, or of one host, as the kernel reports it.
    public typealias NetworkReachabilityManager = TransferReachability.NetworkReachabilityManager
    /// An interceptor that retries requests that failed without a network, as soon as this machine has one.
    public typealias OfflineRetrier = TransferNetworking.OfflineRetrier
    /// An encoder that adds an `Encodable` value to a request.
    public typealias ParameterEncoder = TransferNetworking.ParameterEncoder
    /// An encoding that adds a dictionary of parameters to a request.
    public typealias ParameterEncoding = TransferNetworking.ParameterEncoding
    /// Parameters by name.
    public typealias Parameters = TransferNetworking.Parameters
    /// A preprocessor that leaves the bytes unchanged.
    public typealias PassthroughPreprocessor = TransferNetworking.PassthroughPreprocessor
    /// A serializer that returns each piece unchanged.
    public typealias PassthroughStreamSerializer = TransferNetworking.PassthroughStreamSerializer
    /// An evaluator that trusts a server whose chain contains a pinned certificate: its own, an intermediate's or the
    /// root's.
    public typealias PinnedCertificatesTrustEvaluator = TransferNetworking.PinnedCertificatesTrustEvaluator
    /// An evaluator that trusts a server whose chain has a certificate with a pinned public key.
    public typealias PublicKeysTrustEvaluator = TransferNetworking.PublicKeysTrustEvaluator
    /// A handler that decides whether and how redirects are followed (RFC 9110 §15.4).
    public typealias RedirectHandler = TransferNetworking.RedirectHandler
    /// A handler that follows all redirects, follows none, or changes the requests that follow them.
    public typealias Redirector = TransferNetworking.Redirector
    /// The common part of requests of all kinds, which only a ``Session`` creates.
    public typealias Request = TransferNetworking.Request
    /// An adapter that changes URL requests before they are sent.
    public typealias RequestAdapter = TransferNetworking.RequestAdapter
    /// The facts about a request that an adapter gets beside the URL request.
    public typealias RequestAdapterState = TransferNetworking.RequestAdapterState
    /// The services that a session provides to its requests.
    public typealias RequestDelegate = TransferNetworking.RequestDelegate
    /// An adapter and a retrier; both halves have default implementations that do nothing.
    public typealias RequestInterceptor = TransferNetworking.RequestInterceptor
    /// A retrier that decides whether a failed request is attempted again.
    public typealias RequestRetrier = TransferNetworking.RequestRetrier
    /// A handler that stores all responses, stores none, or changes them.
    public typealias ResponseCacher = TransferNetworking.ResponseCacher
    /// A serializer for both kinds of requests, which prepares the bytes and knows which responses may be empty.
    public typealias ResponseSerializer = TransferNetworking.ResponseSerializer
    /// A retrier made from a closure.
    public typealias Retrier = TransferNetworking.Retrier
    /// A closure that decides about a retry, as ``RequestRetrier`` does.
    public typealias RetryHandler = TransferNetworking.RetryHandler
    /// A policy that retries idempotent requests after transient failures, with an exponential backoff.
    public typealias RetryPolicy = TransferNetworking.RetryPolicy
    /// A retrier's decision about a failure.
    public typealias RetryResult = TransferNetworking.RetryResult
    /// An evaluator that trusts a server whose certificates are not revoked.
    public typealias RevocationTrustEvaluator = TransferNetworking.RevocationTrustEvaluator
    /// An evaluator that decides whether a server is trusted.
    public typealias ServerTrustEvaluating = TransferNetworking.ServerTrustEvaluating
    /// The choice of the evaluator for each host.
    public typealias ServerTrustManager = TransferNetworking.ServerTrustManager
    /// A creator of requests that share one configuration and one set of connections.
    public typealias Session = TransferNetworking.Session
    /// The holder of a session's file manager.
    public typealias SessionDelegate = TransferNetworking.SessionDelegate
    /// The values of a request as they arrive, for one `for await` loop.
    public typealias StreamOf<Element: Sendable> = TransferNetworking.StreamOf<Element>
    /// A serializer that returns the body as text, or an empty string for a response that may be empty.
    public typealias StringResponseSerializer = TransferNetworking.StringResponseSerializer
    /// A serializer that returns each piece as UTF-8 text.
    public typealias StringStreamSerializer = TransferNetworking.StringStreamSerializer
    /// A source of an upload's body.
    public typealias UploadableConvertible = TransferNetworking.UploadableConvertible
    /// Both parts of an upload: the URL request and the body.
    public typealias UploadConvertible = TransferNetworking.UploadConvertible
    /// A request that sends a body of its own.
    public typealias UploadRequest = TransferNetworking.UploadRequest
    /// A value that can be converted to the URL of a request.
    public typealias URLConvertible = TransferNetworking.URLConvertible
    /// An encoder that writes an `Encodable` value as a URL-encoded form.
    public typealias URLEncodedFormEncoder = TransferNetworking.URLEncodedFormEncoder
    /// An encoder that writes parameters into the query of the URL or, as a form, into the body.
    public typealias URLEncodedFormParameterEncoder = TransferNetworking.URLEncodedFormParameterEncoder
    /// An encoding that writes a dictionary into the query of the URL or, as a form, into the body.
    public typealias URLEncoding = TransferNetworking.URLEncoding
    /// A value that can be converted to a URL request, such as a router.
    public typealias URLRequestConvertible = TransferNetworking.URLRequestConvertible
    /// A serializer that returns the URL of the file without reading it.
    public typealias URLResponseSerializer = TransferNetworking.URLResponseSerializer
    /// A WebSocket, which always fails with ``WebSocketsUnavailableError``.
    public typealias WebSocketRequest = TransferNetworking.WebSocketRequest
}
