import Foundation
public import FoundationNetworking

// The server trust policies and the delegate's closures of Alamofire 4. The compiler names their replacements.

/// Alamofire 4's judgement of servers; trust evaluators replace it.
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

    /// Alamofire 4's access to bundled certificates; unavailable.
    public static func certificates() -> [SecCertificate] { [] }
    /// Alamofire 4's access to bundled public keys; unavailable.
    public static func publicKeys() -> [SecKey] { [] }
}

/// Alamofire 4's name for ``ServerTrustManager``.
@available(*, unavailable, renamed: "ServerTrustManager")
public typealias ServerTrustPolicyManager = ServerTrustManager

extension ServerTrustManager {
    /// Alamofire 4's initialiser with policies; unavailable.
    @available(*, unavailable, renamed: "init(evaluators:)")
    public convenience init(policies: [String: ServerTrustPolicy]) { self.init(evaluators: [:]) }

    /// Alamofire 4's policies for hosts; unavailable.
    @available(*, unavailable, renamed: "evaluators")
    public var policies: [String: ServerTrustPolicy] { [:] }
}

extension Session {
    /// Alamofire 4's initialiser with a manager of policies; unavailable.
    @available(*, unavailable, renamed: "init(configuration:delegate:serverTrustManager:)")
    public convenience init(
        configuration: URLSessionConfiguration = .default, delegate: SessionDelegate = SessionDelegate(),
        serverTrustPolicyManager: ServerTrustManager?
    ) { self.init() }
}

extension SessionDelegate {
    /// Alamofire 4's closure for redirects; unavailable.
    @available(*, unavailable, message: "use a RedirectHandler: Session(redirectHandler:) or request.redirect(using:)")
    public var taskWillPerformHTTPRedirection:
        ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    {
        get { nil }
        set {}
    }

    /// Alamofire 4's closure for cached responses; unavailable.
    @available(*, unavailable, message: "use a CachedResponseHandler: Session(cachedResponseHandler:)")
    public var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's closure for challenges of the session; unavailable.
    @available(*, unavailable, message: "use Session(serverTrustManager:), or request.authenticate(with:)")
    public var sessionDidReceiveChallenge: ((URLSession, URLAuthenticationChallenge) -> Void)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's closure for challenges of a task; unavailable.
    @available(*, unavailable, message: "use Session(serverTrustManager:), or request.authenticate(with:)")
    public var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's closure for the end of a task; unavailable.
    @available(*, unavailable, message: "use an EventMonitor: Session(eventMonitors:)")
    public var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
        get { nil }
        set {}
    }

    /// Alamofire 4's closure for background sessions; unavailable.
    @available(
        *, unavailable, message: "sessions in the background are Apple's; see JobQueue for transfers that continue"
    )
    public var sessionDidFinishEventsForBackgroundURLSession: ((URLSession) -> Void)? {
        get { nil }
        set {}
    }
}
