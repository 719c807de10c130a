import Testing
import TransferCore

@testable import TransferUpload

/// The order of the places where S3 credentials are looked for, and what each place needs.
@Suite struct S3CredentialChainTests {
    private typealias Source = S3CredentialSource

    private static let home = ["HOME": "/home/u"]

    private func plan(
        _ environment: [String: String], credentials: String? = nil, config: String? = nil, profile: String? = nil
    ) -> Result<S3CredentialPlan, TransferError> {
        var files: [String: String] = [:]
        files["/home/u/.aws/credentials"] = credentials
        files["/home/u/.aws/config"] = config
        let all = Self.home.merging(environment) { $1 }
        let settings = S3Settings(profile: profile, environment: { all[$0] }, readFile: { [files] in files[$0] })
        return Result { () throws(TransferError) in try settings.plan() }
    }

    /// Returns the name of the place that a plan chooses.
    private func place(_ plan: Result<S3CredentialPlan, TransferError>) -> String {
        switch plan {
        case .failure(let error): "error: \(error.message)"
        case .success(.known(let keys)): keys.accessKey
        case .success(.asked(.process(let process), _)): "process \(process.arguments)"
        case .success(.asked(.webIdentity(let identity), _)): "web identity \(identity.tokenFile)"
        case .success(.asked(.assumedRole(let role), _)): "role \(role.role) by \(role.base)"
        case .success(.asked(.singleSignOn(let signOn), _)): "sign-on \(signOn.role)"
        case .success(.asked(.container(let container), _)): "container \(container.url)"
        case .success(.asked(.instance(let instance), _)): "instance \(instance.endpoint)"
        }
    }

    /// All places have credentials; one after the other is taken away, the first one first.
    @Test func thePlacesAreAskedInTheOrderOfTheCommandLineInterface() {
        var environment = [
            "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token",
            "AWS_ROLE_ARN": "arn:r", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x",
        ]
        var config = [
            "role_arn = arn:p\nweb_identity_token_file = /own",
            "sso_start_url = https://o.example\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = R",
            "credential_process = p -a", "aws_access_key_id = CONFIG\naws_secret_access_key = s",
        ]
        var credentials: String? = "[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n"
        func chosen() -> String {
            place(plan(environment, credentials: credentials, config: "[default]\n" + config.joined(separator: "\n")))
        }
        #expect(chosen() == "ENV")
        environment["AWS_ACCESS_KEY_ID"] = nil
        environment["AWS_SECRET_ACCESS_KEY"] = nil
        #expect(chosen() == "web identity /token")
        environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = nil
        #expect(chosen() == "web identity /own")
        config.removeFirst()
        #expect(chosen() == "sign-on R")
        config.removeFirst()
        #expect(chosen() == "FILE")
        credentials = nil
        #expect(chosen() == #"process ["p", "-a"]"#)
        config.removeFirst()
        #expect(chosen() == "CONFIG")
        config.removeFirst()
        #expect(chosen() == "container http://169.254.170.2/v2/x")
        environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = nil
        #expect(chosen() == "instance http://169.254.169.254")
        environment["AWS_EC2_METADATA_DISABLED"] = "true"
        #expect(
            chosen().hasPrefix("error: no S3 credentials; looked at AWS_ACCESS_KEY_ID in the environment, /home/u/"))
    }

    @Test(arguments: [true, false]) func aMachinesRoleIsUsedOnlyWhereItIsAllowed(_ isAllowed: Bool) {
        var settings = S3Settings(environment: { _ in nil }, readFile: { _ in nil })
        #expect(settings.mayUseInstance, "the default")
        settings.mayUseInstance = isAllowed
        let chosen = place(Result { () throws(TransferError) in try settings.plan() })
        #expect(chosen.hasPrefix(isAllowed ? "instance " : "error: no S3 credentials; looked at "), "\(chosen)")
    }

    @Test func aProfileThatIsAskedForOutranksTheEnvironment() {
        let environment = [
            "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token",
            "AWS_ROLE_ARN": "arn:r",
        ]
        let config = "[profile p]\ncredential_process = q\n[profile bare]\nregion = eu-west-1\n"
        #expect(place(plan(environment, config: config, profile: "p")) == #"process ["q"]"#)
        #expect(place(plan(environment, config: config, profile: "bare")).hasPrefix("instance "))
        let missing = place(plan(["AWS_PROFILE": "nope"], config: config))
        #expect(missing.hasPrefix("error: ") && missing.contains("has no profile nope"), "\(missing)")
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080/x", true), ("http://127.9.8.7/x", true), ("http://localhost/x", true),
        ("http://[::1]:1/x", true), ("http://169.254.170.2/x", true), ("http://169.254.170.23/v1/credentials", true),
        ("http://[fd00:ec2::23]/v1/credentials", true), ("https://credentials.example/x", true),
        ("http://credentials.example/x", false), ("http://169.254.169.254/x", false), ("http://10.0.0.1/x", false),
        ("http://127.0.0.1.example/x", false), ("http://[fd00:ec2::254]/x", false), ("ftp://127.0.0.1/x", false),
    ])
    func tokensOfContainersGoToTheirOwnHostsOnly(_ url: String, _ isTaken: Bool) {
        let chosen = place(plan(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url]))
        #expect((chosen == "container \(url)") == isTaken, "\(chosen)")
        if !isTaken { #expect(chosen.hasPrefix("error: AWS_CONTAINER_CREDENTIALS_FULL_URI ")) }
    }

    @Test func theTokenOfAContainerMayBeInAFile() {
        let found = plan([
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/var/run/token",
        ])
        guard case .success(.asked(let source, _)) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(source.file == "/var/run/token")
    }

    @Test func endpointsFollowTheRegionAndTheEnvironment() {
        func identity(_ more: [String: String]) -> String? {
            let environment = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": "arn:r"].merging(more) { $1 }
            guard case .success(.asked(.webIdentity(let identity), _)) = plan(environment) else { return nil }
            return identity.endpoint
        }
        #expect(identity([:]) == "https://sts.amazonaws.com")
        #expect(identity(["AWS_REGION": "eu-west-1"]) == "https://sts.eu-west-1.amazonaws.com")
        #expect(identity(["AWS_REGION": "cn-north-1"]) == "https://sts.cn-north-1.amazonaws.com.cn")
        #expect(identity(["AWS_ENDPOINT_URL_STS": "http://127.0.0.1:1/"]) == "http://127.0.0.1:1")
        let all = [
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:2/", "AWS_METADATA_SERVICE_TIMEOUT": "3",
            "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "4",
        ]
        guard case .success(.asked(.instance(let instance), _)) = plan(all) else {
            Issue.record("no instance")
            return
        }
        #expect(instance == Source.Instance(endpoint: "http://127.0.0.1:2", timeout: 3, attempts: 4))
        #expect(
            place(plan(["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"])) == "instance http://[fd00:ec2::254]")
    }

    @Test(arguments: [
        ("source_profile = base", "role arn:r by profile(\"base\")"),
        ("credential_source = Environment", "role arn:r by environment"),
        ("credential_source = EcsContainer", "role arn:r by container"),
        ("credential_source = Ec2InstanceMetadata", "role arn:r by instance"),
        ("", "error: the profile p has a role_arn, and needs either a source_profile or a credential_source"),
        (
            "source_profile = base\ncredential_source = Environment",
            "error: the profile p has a role_arn, and needs either a source_profile or a credential_source"
        ),
        ("source_profile = p", "error: the profile p is its own source_profile, and has no keys"),
    ])
    func rolesAreAssumedWithTheCredentialsOfAnotherPlace(_ lines: String, _ expected: String) {
        let config = "[profile p]\nrole_arn = arn:r\n\(lines)\n"
        #expect(place(plan(["AWS_PROFILE": "p"], config: config)) == expected)
        let asking = place(plan(["AWS_PROFILE": "p"], config: config + "mfa_serial = arn:m\n"))
        #expect(asking.hasPrefix("error: the profile p asks for a code (mfa_serial)"), "\(asking)")
    }

    @Test func aRolesBaseIsAProfileOrAPlace() throws {
        let files = [
            "/home/u/.aws/config": """
            [profile own]
            role_arn = arn:r
            source_profile = own
            [profile base]
            credential_process = q
            """,
            "/home/u/.aws/credentials": "[own]\naws_access_key_id = OWN\naws_secret_access_key = s\n",
        ]
        let variables = Self.home.merging(["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"]) { $1 }
        let settings = S3Settings(environment: { variables[$0] }, readFile: { files[$0] })
        func base(_ base: Source.AssumedRole.Base) -> String {
            place(Result { () throws(TransferError) in try settings.plan(base: base, of: "arn:r") })
        }
        #expect(base(.profile("own")) == "OWN")
        #expect(base(.profile("base")) == #"process ["q"]"#)
        #expect(base(.environment) == "ENV")
        #expect(
            base(.container).hasPrefix("error: no S3 credentials; looked at AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
        #expect(base(.instance).hasPrefix("instance "))
        #expect(base(.profile("nope")).contains("has no profile nope"))
    }

    @Test func sessionsOfIdentityCenterNameTheStoredToken() {
        let config = """
            [profile p]
            sso_session = corp
            sso_account_id = 123
            sso_role_name = Reader
            [sso-session corp]
            sso_start_url = https://corp.awsapps.com/start
            sso_region = eu-central-1
            """
        guard case .success(.asked(.singleSignOn(let signOn), _)) = plan(["AWS_PROFILE": "p"], config: config) else {
            Issue.record("no sign-on")
            return
        }
        // The SHA-1 digest of "corp".
        #expect(signOn.cache == "/home/u/.aws/sso/cache/\(Self.digestOfCorp).json")
        #expect(signOn.endpoint == "https://portal.sso.eu-central-1.amazonaws.com")
        #expect(signOn.login == "AWS_PROFILE=p aws sso login")
        let without = place(plan(["AWS_PROFILE": "p"], config: config.replacingSection))
        #expect(without.contains("names the sso_session corp, which the config file does not have"), "\(without)")
    }

    /// The sign-in may serve for a token alone; the credentials of such a profile are elsewhere.
    @Test(arguments: [
        ("credential_process = q", #"process ["q"]"#),
        ("aws_access_key_id = CONFIG\naws_secret_access_key = s", "CONFIG"),
        ("region = eu-west-1", "instance http://169.254.169.254"),
        (
            "sso_account_id = 1\ncredential_process = q",
            "error: the profile p has IAM Identity Center, but no sso_role_name"
        ),
        (
            "sso_role_name = R\ncredential_process = q",
            "error: the profile p has IAM Identity Center, but no sso_account_id"
        ),
    ])
    func aSignInWithoutAccountAndRoleGivesNoCredentials(_ lines: String, _ expected: String) {
        for signOn in ["sso_session = corp", "sso_start_url = https://o.example\nsso_region = eu-west-1"] {
            let config = "[profile p]\n\(signOn)\n\(lines)\n"
            #expect(place(plan(["AWS_PROFILE": "p"], config: config)) == expected)
        }
    }

    private static let digestOfCorp = "ee0bfd2552fbd840c02cc48b6e823320543c450f"

    @Test(arguments: [
        ("a b  c", ["a", "b", "c"]), (#""a b" 'c d'"#, ["a b", "c d"]), (#"a\ b"#, ["a b"]), (#"'a\b'"#, [#"a\b"#]),
        (#"a"" b"#, ["a", "b"]), (#""""#, [""]), ("\"a", nil), ("a\\", nil), ("", []),
    ])
    func commandLinesAreSplitWithoutAShell(_ line: String, _ words: [String]?) {
        #expect(CommandWords.split(line) == words)
    }

    @Test(
        arguments: [
            (nil, 1_000, true, false), (1_301, 1_000, true, false), (1_300, 1_000, true, true),
            (1_001, 1_000, true, true),
            (1_000, 1_000, false, true), (900, 1_000, false, true),
        ] as [(Int64?, Int64, Bool, Bool)])
    func leasesAreRenewedFiveMinutesBeforeTheirEnd(_ end: Int64?, _ now: Int64, _ isUsable: Bool, _ isDue: Bool) {
        let lease = S3CredentialLease(credentials: S3Credentials(accessKey: "a", secret: "b"), expires: end)
        #expect(lease.isUsable(now: now) == isUsable)
        #expect(lease.isDue(now: now) == isDue)
    }
}

extension String {
    /// The text without its last section.
    fileprivate var replacingSection: String { String(prefix(upTo: lastIndex(of: "[") ?? endIndex)) }
}
