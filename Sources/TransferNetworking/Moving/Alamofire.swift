import Foundation
public import TransferReachability

/// The module's name there, so that types that are written with it (`Alamofire.Session`) are found.
public enum Alamofire {
    public typealias Adapter = TransferNetworking.Adapter
    public typealias AdaptHandler = TransferNetworking.AdaptHandler
    public typealias AFDataResponse<Success> = TransferNetworking.AFDataResponse<Success>
    public typealias AFDownloadResponse<Success> = TransferNetworking.AFDownloadResponse<Success>
    public typealias AFError = TransferNetworking.AFError
    public typealias AFResult<Success> = TransferNetworking.AFResult<Success>
    public typealias AlamofireExtended = TransferNetworking.AlamofireExtended
    public typealias AlamofireExtension<ExtendedType> = TransferNetworking.AlamofireExtension<ExtendedType>
    public typealias AuthenticationCredential = TransferNetworking.AuthenticationCredential
    public typealias AuthenticationError = TransferNetworking.AuthenticationError
    public typealias AuthenticationInterceptor<AuthenticatorType: Authenticator> = TransferNetworking
        .AuthenticationInterceptor<AuthenticatorType>
    public typealias Authenticator = TransferNetworking.Authenticator
    public typealias CachedResponseHandler = TransferNetworking.CachedResponseHandler
    public typealias ClosureEventMonitor = TransferNetworking.ClosureEventMonitor
    public typealias CompositeEventMonitor = TransferNetworking.CompositeEventMonitor
    public typealias CompositeTrustEvaluator = TransferNetworking.CompositeTrustEvaluator
    public typealias ConnectionLostRetryPolicy = TransferNetworking.ConnectionLostRetryPolicy
    public typealias DataDecoder = TransferNetworking.DataDecoder
    public typealias DataPreprocessor = TransferNetworking.DataPreprocessor
    public typealias DataRequest = TransferNetworking.DataRequest
    public typealias DataResponse<Success, Failure: Error> = TransferNetworking.DataResponse<Success, Failure>
    public typealias DataResponseSerializer = TransferNetworking.DataResponseSerializer
    public typealias DataResponseSerializerProtocol = TransferNetworking.DataResponseSerializerProtocol
    public typealias DataStreamRequest = TransferNetworking.DataStreamRequest
    public typealias DataStreamSerializer = TransferNetworking.DataStreamSerializer
    public typealias DataStreamTask = TransferNetworking.DataStreamTask
    public typealias DataTask<Value: Sendable> = TransferNetworking.DataTask<Value>
    public typealias DecodableResponseSerializer<Value: Decodable & Sendable> = TransferNetworking
        .DecodableResponseSerializer<Value>
    public typealias DecodableStreamSerializer<Value: Decodable & Sendable> = TransferNetworking
        .DecodableStreamSerializer<Value>
    public typealias DefaultTrustEvaluator = TransferNetworking.DefaultTrustEvaluator
    public typealias DeflateRequestCompressor = TransferNetworking.DeflateRequestCompressor
    public typealias DisabledTrustEvaluator = TransferNetworking.DisabledTrustEvaluator
    public typealias DownloadRequest = TransferNetworking.DownloadRequest
    public typealias DownloadResponse<Success, Failure: Error> = TransferNetworking.DownloadResponse<Success, Failure>
    public typealias DownloadResponseSerializerProtocol = TransferNetworking.DownloadResponseSerializerProtocol
    public typealias DownloadTask<Value: Sendable> = TransferNetworking.DownloadTask<Value>
    public typealias Empty = TransferNetworking.Empty
    public typealias EmptyResponse = TransferNetworking.EmptyResponse
    public typealias EventMonitor = TransferNetworking.EventMonitor
    public typealias GoogleXSSIPreprocessor = TransferNetworking.GoogleXSSIPreprocessor
    public typealias HTTPHeader = TransferNetworking.HTTPHeader
    public typealias HTTPHeaders = TransferNetworking.HTTPHeaders
    public typealias HTTPMethod = TransferNetworking.HTTPMethod
    public typealias Interceptor = TransferNetworking.Interceptor
    public typealias JSONEncoding = TransferNetworking.JSONEncoding
    public typealias JSONParameterEncoder = TransferNetworking.JSONParameterEncoder
    public typealias JSONResponseSerializer = TransferNetworking.JSONResponseSerializer
    public typealias MultipartFormData = TransferNetworking.MultipartFormData
    public typealias NetworkReachabilityManager = TransferReachability.NetworkReachabilityManager
    public typealias OfflineRetrier = TransferNetworking.OfflineRetrier
    public typealias ParameterEncoder = TransferNetworking.ParameterEncoder
    public typealias ParameterEncoding = TransferNetworking.ParameterEncoding
    public typealias Parameters = TransferNetworking.Parameters
    public typealias PassthroughPreprocessor = TransferNetworking.PassthroughPreprocessor
    public typealias PassthroughStreamSerializer = TransferNetworking.PassthroughStreamSerializer
    public typealias PinnedCertificatesTrustEvaluator = TransferNetworking.PinnedCertificatesTrustEvaluator
    public typealias PublicKeysTrustEvaluator = TransferNetworking.PublicKeysTrustEvaluator
    public typealias RedirectHandler = TransferNetworking.RedirectHandler
    public typealias Redirector = TransferNetworking.Redirector
    public typealias Request = TransferNetworking.Request
    public typealias RequestAdapter = TransferNetworking.RequestAdapter
    public typealias RequestAdapterState = TransferNetworking.RequestAdapterState
    public typealias RequestInterceptor = TransferNetworking.RequestInterceptor
    public typealias RequestRetrier = TransferNetworking.RequestRetrier
    public typealias ResponseCacher = TransferNetworking.ResponseCacher
    public typealias ResponseSerializer = TransferNetworking.ResponseSerializer
    public typealias Retrier = TransferNetworking.Retrier
    public typealias RetryHandler = TransferNetworking.RetryHandler
    public typealias RetryPolicy = TransferNetworking.RetryPolicy
    public typealias RetryResult = TransferNetworking.RetryResult
    public typealias RevocationTrustEvaluator = TransferNetworking.RevocationTrustEvaluator
    public typealias ServerTrustEvaluating = TransferNetworking.ServerTrustEvaluating
    public typealias ServerTrustManager = TransferNetworking.ServerTrustManager
    public typealias Session = TransferNetworking.Session
    public typealias SessionDelegate = TransferNetworking.SessionDelegate
    public typealias StreamOf<Element: Sendable> = TransferNetworking.StreamOf<Element>
    public typealias StringResponseSerializer = TransferNetworking.StringResponseSerializer
    public typealias StringStreamSerializer = TransferNetworking.StringStreamSerializer
    public typealias UploadableConvertible = TransferNetworking.UploadableConvertible
    public typealias UploadConvertible = TransferNetworking.UploadConvertible
    public typealias UploadRequest = TransferNetworking.UploadRequest
    public typealias URLConvertible = TransferNetworking.URLConvertible
    public typealias URLEncodedFormEncoder = TransferNetworking.URLEncodedFormEncoder
    public typealias URLEncodedFormParameterEncoder = TransferNetworking.URLEncodedFormParameterEncoder
    public typealias URLEncoding = TransferNetworking.URLEncoding
    public typealias URLRequestConvertible = TransferNetworking.URLRequestConvertible
    public typealias URLResponseSerializer = TransferNetworking.URLResponseSerializer
}
