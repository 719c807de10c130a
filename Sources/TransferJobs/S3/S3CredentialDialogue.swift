package import TransferCore
package import TransferUpload

/// The questions by which a source of S3 credentials is asked over HTTP. Pure: the queue performs the requests.
package struct S3CredentialDialogue: Sendable {
    /// The next step.
    package enum Step: Sendable, Hashable {
        case ask(Question)
        case done(S3CredentialLease)
        case failed(TransferError)
    }

    /// A request. It follows no redirect, and no proxy sees it where it stays within the machine.
    package struct Question: Sendable, Hashable {
        package var method: String
        package var url: String
        package var headers: [HeaderField] = []
        package var body: [UInt8] = []
        /// The time in seconds for the whole request.
        package var timeout = 10
        /// Whether the server is the machine's or the container's own.
        package var isLocal = false
    }

    private enum Phase: Sendable, Hashable {
        case beginning
        /// The metadata service is asked for a token, again after a failure.
        case token(attempt: Int)
        case roles(token: String)
        case credentials
        case over
    }

    private let source: S3CredentialSource
    /// The text of the source's file, or the value of its variable; empty for none.
    private let secret: String
    /// The credentials that assume a role; `nil` for other sources.
    private let base: S3Credentials?
    /// Whether the source has given credentials before. A metadata service that was never there is no failure of the
    /// moment: most machines have none.
    private let isKnown: Bool
    private var phase = Phase.beginning

    /// Creates a dialogue.
    ///
    /// - Parameters:
    ///   - secret: The text of the source's ``/TransferUpload/S3CredentialSource/file``, or the container's token.
    ///   - base: The credentials that assume a role.
    ///   - isKnown: Whether the source has given credentials before.
    package init(
        _ source: S3CredentialSource, secret: String = "", base: S3Credentials? = nil, isKnown: Bool = false
    ) {
        self.source = source
        self.base = base
        self.secret = secret
        self.isKnown = isKnown
    }

    /// Returns the first step.
    ///
    /// - Parameter now: Seconds since 1970.
    package mutating func begin(now: Int64) -> Step {
        phase = .credentials
        do throws(TransferError) {
            switch source {
            case .process: throw S3CredentialAnswer.fault(source, "is no server")
            case .webIdentity(let identity): return .ask(try Self.question(identity, secret))
            case .assumedRole(let role):
                guard let base else { throw S3CredentialAnswer.fault(source, "needs other credentials") }
                return .ask(try Self.question(role, base, now))
            case .singleSignOn(let signOn):
                let token = try S3CredentialAnswer.storedToken(secret, of: signOn, now: now)
                let query =
                    "account_id=\(PercentEncoding.encode(signOn.account))&role_name=\(PercentEncoding.encode(signOn.role))"
                return .ask(
                    Question(
                        method: "GET", url: "\(signOn.endpoint)/federation/credentials?\(query)",
                        headers: [HeaderField("x-amz-sso_bearer_token", try checked(token))]))
            case .container(let container):
                let token = try checked(secret)
                var question = Question(method: "GET", url: container.url, isLocal: true)
                if !token.isEmpty { question.headers = [HeaderField("Authorization", token)] }
                return .ask(question)
            case .instance(let instance):
                phase = .token(attempt: 1)
                return .ask(Self.tokenQuestion(instance))
            }
        } catch {
            return end(.failed(error))
        }
    }

    /// Returns the step that follows an answer.
    package mutating func answered(_ status: Int, _ body: [UInt8]) -> Step {
        do throws(TransferError) {
            guard (200..<300).contains(status) else {
                throw S3CredentialAnswer.refusal(status, body, by: source, signedBy: base?.accessKey)
            }
            switch (phase, source) {
            case (.token, .instance(let instance)):
                let token = try checked(Self.line(body))
                guard !token.isEmpty else { throw S3CredentialAnswer.fault(source, "gave no token") }
                phase = .roles(token: token)
                return .ask(Self.question(instance, "", token))
            case (.roles(let token), .instance(let instance)):
                let role = Self.line(body)
                guard !role.isEmpty else { throw S3CredentialAnswer.fault(source, "has no role") }
                phase = .credentials
                return .ask(Self.question(instance, PercentEncoding.encode(role), token))
            case (.credentials, .webIdentity), (.credentials, .assumedRole):
                return end(.done(try S3CredentialAnswer.tokenService(body, from: source)))
            case (.credentials, .singleSignOn): return end(.done(try S3CredentialAnswer.portal(body, from: source)))
            case (.credentials, _): return end(.done(try S3CredentialAnswer.json(body, from: source)))
            default: throw S3CredentialAnswer.fault(source, "was asked out of turn")
            }
        } catch {
            return end(.failed(error))
        }
    }

    /// Returns the step that follows a request without an answer.
    package mutating func failed(_ error: TransferError) -> Step {
        if case .token(let attempt) = phase, case .instance(let instance) = source, attempt < instance.attempts {
            phase = .token(attempt: attempt + 1)
            return .ask(Self.tokenQuestion(instance))
        }
        var failure = S3CredentialAnswer.fault(source, "cannot be asked: \(error.message)")
        failure.isTransient = error.isTransient
        if case .instance = source, !isKnown { failure.isTransient = false }
        return end(.failed(failure))
    }

    private mutating func end(_ step: Step) -> Step {
        phase = .over
        return step
    }

    // MARK: Requests

    /// "AssumeRoleWithWebIdentity" of the Security Token Service's API reference, which no signature protects.
    private static func question(
        _ identity: S3CredentialSource.WebIdentity, _ text: String
    ) throws(TransferError) -> Question {
        let token = line(Array(text.utf8))
        guard !token.isEmpty else {
            throw TransferError(.secretMissing, "no S3 credentials: \(identity.tokenFile) has no token")
        }
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", identity.role),
            ("RoleSessionName", identity.session), ("WebIdentityToken", token),
        ]
        return Question(
            method: "POST", url: identity.endpoint + "/", headers: [formType], body: form(fields))
    }

    /// "AssumeRole" of the same reference, signed with the credentials that assume the role.
    private static func question(
        _ role: S3CredentialSource.AssumedRole, _ base: S3Credentials, _ now: Int64
    ) throws(TransferError) -> Question {
        var fields = [
            ("Action", "AssumeRole"), ("Version", "2011-06-15"), ("RoleArn", role.role),
            ("RoleSessionName", role.session),
        ]
        if let identity = role.externalID { fields.append(("ExternalId", identity)) }
        if let duration = role.duration { fields.append(("DurationSeconds", "\(duration)")) }
        var question = Question(method: "POST", url: role.endpoint + "/", headers: [formType], body: form(fields))
        question.headers += try SignatureVersion4(region: role.region, service: "sts").fields(
            method: question.method, url: question.url, headers: question.headers, payload: .bytes(question.body),
            credentials: base, now: now)
        return question
    }

    private static let formType = HeaderField("Content-Type", "application/x-www-form-urlencoded")

    private static func form(_ fields: [(String, String)]) -> [UInt8] {
        Array(fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&").utf8)
    }

    /// Version 2 of the metadata service: a session's token is requested first ("Use IMDSv2" of the EC2 user guide).
    private static func tokenQuestion(_ instance: S3CredentialSource.Instance) -> Question {
        Question(
            method: "PUT", url: instance.endpoint + "/latest/api/token",
            headers: [HeaderField("X-aws-ec2-metadata-token-ttl-seconds", "21600")], timeout: instance.timeout,
            isLocal: true)
    }

    private static func question(_ instance: S3CredentialSource.Instance, _ role: String, _ token: String) -> Question {
        Question(
            method: "GET", url: "\(instance.endpoint)/latest/meta-data/iam/security-credentials/\(role)",
            headers: [HeaderField("X-aws-ec2-metadata-token", token)], timeout: max(instance.timeout, 5), isLocal: true)
    }

    /// Returns the first line of a text, without blanks around it.
    private static func line(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self).drop { $0.isWhitespace }
        var line = text.prefix { !$0.isNewline }
        while line.last?.isWhitespace == true { line.removeLast() }
        return String(line)
    }

    /// Returns a secret that a header field can carry.
    private func checked(_ text: String) throws(TransferError) -> String {
        let text = Self.line(Array(text.utf8))
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw S3CredentialAnswer.fault(source, "has a token with a control character")
        }
        return text
    }
}
