import TransferCore

/// Who is told when a job or a batch has ended: `onFinish` of a job file.
///
/// A job file is data: it names a command, and what the name stands for is said by whoever runs the queue
/// (`HookSettings` of the queue's configuration).
public enum FinishHook: Sendable, Hashable {
    /// The command of that name.
    case command(String)
    case webhook(Webhook)

    /// A URL to which the end is POSTed.
    public struct Webhook: Sendable, Hashable {
        /// `http://` or `https://`; or the name of a secret, where whoever knows the URL may post.
        public var url: SecretText
        /// The key of the signature; without one nothing is signed.
        public var secret: SecretText?

        public init(url: SecretText, secret: SecretText? = nil) {
            self.url = url
            self.secret = secret
        }
    }

    /// The command's name, or the redacted URL; for people.
    public var shown: String {
        switch self {
        case .command(let name): name
        case .webhook(let hook):
            switch hook.url {
            case .literal(let url): Redaction.url(url)
            case .environment(let name): "the webhook of $\(name)"
            case .file(let path): "the webhook of \(path)"
            case .credential(let name): "the webhook of the credential \(name)"
            }
        }
    }

    package var webhook: Webhook? {
        if case .webhook(let hook) = self { hook } else { nil }
    }

    /// - Returns: What is wrong with a command's name; `nil` where nothing is.
    package static func refusal(ofName name: String) -> String? {
        if name.isEmpty { return "the name of the command is empty" }
        if name.lowercased().hasPrefix("http://") || name.lowercased().hasPrefix("https://") {
            return "a webhook is an object: write {\"url\": \"https://…\", \"secret\": {\"env\": \"NAME\"}}"
        }
        let isName =
            name.utf8.count <= 64
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isName else {
            return
                "a job file names a command (letters, digits, \".\", \"_\" and \"-\"); what the name stands for is said "
                + "by \"commands\" of the configuration\(CommandPhrases.only(", or by --on-finish NAME=COMMAND"))"
        }
        return nil
    }
}

/// The hook of a whole batch, and how its webhook is reached.
public struct BatchHook: Sendable, Hashable {
    public let hook: FinishHook
    /// Of the batch's `defaults`, as far as it concerns a webhook.
    package let settings: JobSettings

    /// - Parameter settings: Proxy, TLS, times and retries of a webhook.
    public init(_ hook: FinishHook, settings: JobSettings = JobSettings()) {
        self.hook = hook
        self.settings = HookRoute.settings(settings, for: hook, job: nil)
    }
}

/// A hook and the way to it, as text: what the database has of it.
package enum HookRoute {
    /// A job's rules, as far as they concern a webhook: nothing that is meant for the job's own server alone.
    ///
    /// - Parameter job: The job's own URL, whose pins, client certificate and trust hold for a webhook of the same origin.
    package static func settings(_ settings: JobSettings, for hook: FinishHook, job: String?) -> JobSettings {
        var result = JobSettings()
        result.connectTimeout = settings.connectTimeout
        result.timeout = settings.timeout
        result.maxTime = settings.maxTime
        result.retry = settings.retry
        result.proxy = settings.proxy
        result.http.version = settings.http.version
        if case .literal(let url)? = hook.webhook?.url, let job, Origin(anyURL: url) == Origin(anyURL: job) {
            result.tls = settings.tls
        } else {
            result.tls.ca = settings.tls.ca
        }
        result.onFinish = hook
        return result
    }

    /// - Returns: The settings, which name the hook, as a job without a work of its own.
    package static func text(_ settings: JobSettings) -> String {
        JobSpec(work: .download(JobSpec.Download(urls: [""], destination: "")), settings: settings).redacted
            .canonicalJSON
    }

    /// - Returns: `nil` for what isn't such a text.
    package static func settings(text: String) -> JobSettings? {
        guard let settings = try? JobSpec(canonicalJSON: text).settings, settings.onFinish != nil else { return nil }
        return settings
    }
}
