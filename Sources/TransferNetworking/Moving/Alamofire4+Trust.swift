import Foundation
public import FoundationNetworking

// What Alamofire 4 judged servers with, and the closures of its session delegate: the compiler says what stands in their
// place.

@available(
    *, unavailable,
    message:
        "use evaluators: DefaultTrustEvaluator, PinnedCertificatesTrustEvaluator, PublicKeysTrustEvaluator and so on"
)
public enum ServerTrustPolicy {
    case performDefaultEvaluation(validateHost: Bool)
    case performRevokedEvaluation(validateHost: Bool, revocationFlags: UInt)
    case pinCertificates(certificates: [SecCertificate], validateCertificateChain: Bool, validateHost: Bool)
    case pinPublicKeys(publicKeys: [SecKey], validateCertificateChain: Bool, validateHost: Bool)
    case disableEvaluation
    case customEvaluation((_ serverTrust: SecTrust, _ host: String) -> Bool)

    public static func certificates() -> [SecCertificate] { [] }
    public static func publicKeys() -> [SecKey] { [] }
}

@available(*, unavailable, renamed: "ServerTrustManager")
public typealias ServerTrustPolicyManager = ServerTrustManager

extension ServerTrustManager {
    @available(*, unavailable, renamed: "init(evaluators:)")
    public convenience init(policies: [String: ServerTrustPolicy]) { self.init(evaluators: [:]) }

    @available(*, unavailable, renamed: "evaluators")
    public var policies: [String: ServerTrustPolicy] { [:] }
}

extension Session {
    @available(*, unavailable, renamed: "init(configuration:delegate:serverTrustManager:)")
    public convenience init(
        configuration: URLSessionConfiguration = .default, delegate: SessionDelegate = SessionDelegate(),
        serverTrustPolicyManager: ServerTrustManager?
    ) { self.init() }
}

extension SessionDelegate {
    @available(*, unavailable, message: "use a RedirectHandler: Session(redirectHandler:) or request.redirect(using:)")
    public var taskWillPerformHTTPRedirection:
        ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "use a CachedResponseHandler: Session(cachedResponseHandler:)")
    public var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "use Session(serverTrustManager:), or request.authenticate(with:)")
    public var sessionDidReceiveChallenge: ((URLSession, URLAuthenticationChallenge) -> Void)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "use Session(serverTrustManager:), or request.authenticate(with:)")
    public var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "use an EventMonitor: Session(eventMonitors:)")
    public var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "sessions in the background are Apple's; see JobQueue for transfers that go on")
    public var sessionDidFinishEventsForBackgroundURLSession: ((URLSession) -> Void)? {
        get { nil }
        set {}
    }
}
