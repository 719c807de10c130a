import TransferCore

/// The command or webhook that is called when a job or a batch has ended: `onFinish` of a job file.
///
/// A job file is data: it only names a command. The operator of the queue defines the command (`HookSettings` of the
/// queue's configuration).
public enum FinishHook: Sendable, Hashable {
    /// The command with this name.
    case command(String)
    case webhook(Webhook)

    /// A URL to which the end is sent by POST.
    public struct Webhook: Sendable, Hashable {
        /// The `http://` or `https://` URL, or the name of a secret, for a URL whose knowledge alone permits requests.
        public var url: SecretText
        /// The key of the signature; without one, requests are not signed.
        public var secret: SecretText?

        /// Creates a webhook; without a secret its requests are not signed.
        public init(url: SecretText, secret: SecretText? = nil) {
            self.url = url
            self.secret = secret
        }
    }

    /// The command's name, or the URL without secrets, for display.
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

    /// Explains why a text is no command's name.
    ///
    /// - Returns: The reason in words; `nil` for a valid name.
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

/// The hook of a whole batch, with the settings for requests to its webhook.
public struct BatchHook: Sendable, Hashable {
    /// The command or webhook.
    public let hook: FinishHook
    /// The settings of the batch's `defaults` that concern a webhook.
    package let settings: JobSettings

    /// Creates a batch's hook.
    ///
    /// - Parameter settings: The proxy, TLS, timeouts and retries of a webhook.
    public init(_ hook: FinishHook, settings: JobSettings = JobSettings()) {
        self.hook = hook
        self.settings = HookRoute.settings(settings, for: hook, job: nil)
    }
}

/// The text form, for the database, of a hook and its settings.
package enum HookRoute {
    /// Returns the settings of a job that concern a webhook, without those meant for the job's own server alone.
    ///
    /// - Parameter job: The job's own URL. Its pins, client certificate and trust also apply to a webhook of the same
    ///   origin.
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

    /// Returns the text form.
    ///
    /// - Returns: The settings, which name the hook, as a job without any work.
    package static func text(_ settings: JobSettings) -> String {
        JobSpec(work: .download(JobSpec.Download(urls: [""], destination: "")), settings: settings).redacted
            .canonicalJSON
    }

    /// Restores the settings from the text form.
    ///
    /// - Returns: `nil` for any other text.
    package static func settings(text: String) -> JobSettings? {
        guard let settings = try? JobSpec(canonicalJSON: text).settings, settings.onFinish != nil else { return nil }
        return settings
    }
}
