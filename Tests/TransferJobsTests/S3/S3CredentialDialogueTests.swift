import Testing
import TransferCore
import TransferUpload

@testable import TransferJobs

/// The questions to sources of S3 credentials, and the reading of their answers.
@Suite struct S3CredentialDialogueTests {
    private typealias Dialogue = S3CredentialDialogue

    private static let instance = S3CredentialSource.instance(.init(endpoint: "http://i", attempts: 2))
    private static let container = S3CredentialSource.container(.init(url: "http://c/x"))
    private static let process = S3CredentialSource.process(.init(profile: "p", arguments: ["q"]))
    private static let identity = S3CredentialSource.webIdentity(
        .init(endpoint: "https://sts", role: "arn:r/a", session: "s", tokenFile: "/t"))
    private static let signOn = S3CredentialSource.SingleSignOn(
        endpoint: "https://portal", account: "1", role: "R/x", cache: "/c", login: "aws sso login")

    private static let answer = Array(
        #"""
        {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "AK", "SecretAccessKey": "hush", "Token": "quiet",
         "Expiration": "2026-11-29T14:00:00Z", "Extra": [1, {"a": null}]}
        """#.utf8)

    private static let lease = S3CredentialLease(
        credentials: S3Credentials(accessKey: "AK", secret: "hush", sessionToken: "quiet"), expires: 1_795_960_800)

    private func question(_ step: Dialogue.Step) -> Dialogue.Question? {
        if case .ask(let question) = step { question } else { nil }
    }

    private func error(_ step: Dialogue.Step) -> TransferError? {
        if case .failed(let error) = step { error } else { nil }
    }

    @Test func aMetadataServiceIsAskedForATokenFirst() throws {
        var dialogue = Dialogue(Self.instance)
        let token = try #require(question(dialogue.begin(now: 0)))
        #expect(token.method == "PUT" && token.url == "http://i/latest/api/token" && token.timeout == 1)
        #expect(token.headers.value("X-aws-ec2-metadata-token-ttl-seconds") == "21600")
        let roles = try #require(question(dialogue.answered(200, Array("TOKEN\n".utf8))))
        #expect(roles.url == "http://i/latest/meta-data/iam/security-credentials/")
        #expect(roles.method == "GET" && roles.headers.value("X-aws-ec2-metadata-token") == "TOKEN" && roles.isLocal)
        let role = try #require(question(dialogue.answered(200, Array("my role\nother".utf8))))
        #expect(role.url == "http://i/latest/meta-data/iam/security-credentials/my%20role")
        #expect(role.headers.value("X-aws-ec2-metadata-token") == "TOKEN")
        #expect(dialogue.answered(200, Self.answer) == .done(Self.lease))
    }

    @Test func aMetadataServiceThatWasNeverThereIsNoFailureOfTheMoment() throws {
        let silence = TransferError(.timedOut, "no answer", isTransient: true)
        for isKnown in [false, true] {
            var dialogue = Dialogue(Self.instance, isKnown: isKnown)
            _ = dialogue.begin(now: 0)
            #expect(question(dialogue.failed(silence))?.method == "PUT", "the second attempt")
            let failure = try #require(error(dialogue.failed(silence)))
            #expect(failure.isTransient == isKnown && failure.code == .secretMissing)
        }
    }

    @Test func aContainerGetsItsTokenAsTheFieldAuthorization() throws {
        var dialogue = Dialogue(Self.container, secret: "Bearer t\n")
        let asked = try #require(question(dialogue.begin(now: 0)))
        #expect(asked.url == "http://c/x" && asked.headers == [HeaderField("Authorization", "Bearer t")])
        #expect(asked.isLocal && dialogue.answered(200, Self.answer) == .done(Self.lease))
        var bare = Dialogue(Self.container)
        #expect(question(bare.begin(now: 0))?.headers == [])
        var split = Dialogue(Self.container, secret: "a\u{1}hush")
        let refused = try #require(error(split.begin(now: 0)))
        #expect(!refused.message.contains("hush"))
    }

    @Test func aWebIdentityIsSentInABodyAndInNoURL() throws {
        var dialogue = Dialogue(Self.identity, secret: "ey.J+\n")
        let asked = try #require(question(dialogue.begin(now: 0)))
        #expect(asked.method == "POST" && asked.url == "https://sts/" && !asked.isLocal)
        let body = String(decoding: asked.body, as: UTF8.self)
        #expect(
            body == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Ar%2Fa&RoleSessionName=s"
                + "&WebIdentityToken=ey.J%2B")
        let answer = """
            <AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AK</AccessKeyId>
            <SecretAccessKey>hush</SecretAccessKey><SessionToken>quiet</SessionToken>
            <Expiration>2026-11-29T14:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
            </AssumeRoleWithWebIdentityResponse>
            """
        #expect(dialogue.answered(200, Array(answer.utf8)) == .done(Self.lease))
        var empty = Dialogue(Self.identity, secret: "\n")
        #expect(error(empty.begin(now: 0))?.message == "no S3 credentials: /t has no token")
    }

    @Test func aRoleIsAssumedByASignedRequest() throws {
        let role = S3CredentialSource.AssumedRole(
            endpoint: "https://sts.eu-west-1.amazonaws.com", region: "eu-west-1", role: "arn:r", session: "s",
            externalID: "e/1", duration: 900, base: .environment)
        var dialogue = Dialogue(.assumedRole(role), base: S3Credentials(accessKey: "BASE", secret: "hush"))
        let asked = try #require(question(dialogue.begin(now: 1_795_960_800)))
        let body = String(decoding: asked.body, as: UTF8.self)
        #expect(
            body == "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Ar&RoleSessionName=s&ExternalId=e%2F1"
                + "&DurationSeconds=900")
        let field = try #require(asked.headers.value("Authorization"))
        #expect(field.contains("Credential=BASE/20261129/eu-west-1/sts/aws4_request") && !field.contains("hush"))
        let answer = """
            <AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AK</AccessKeyId>
            <SecretAccessKey>hush</SecretAccessKey><SessionToken>quiet</SessionToken>
            <Expiration>2026-11-29T14:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>
            """
        #expect(dialogue.answered(200, Array(answer.utf8)) == .done(Self.lease))
        for (code, key) in [("ExpiredToken", "BASE"), ("AccessDenied", nil)] {
            var refused = Dialogue(.assumedRole(role), base: S3Credentials(accessKey: "BASE", secret: "hush"))
            _ = refused.begin(now: 1_795_960_800)
            let body = "<ErrorResponse><Error><Code>\(code)</Code></Error></ErrorResponse>"
            let failure = try #require(error(refused.answered(403, Array(body.utf8))))
            #expect(failure.expiredAccessKey == key && failure.hasExpiredCredentials == (key != nil))
        }
        var bare = Dialogue(.assumedRole(role))
        #expect(error(bare.begin(now: 0))?.message.contains("needs other credentials") == true)
    }

    @Test func aSignInThatHasExpiredNamesTheCommandForAnother() throws {
        let stored = #"{"accessToken": "hush", "expiresAt": "2026-11-29T14:00:00Z"}"#
        let source = S3CredentialSource.singleSignOn(Self.signOn)
        var late = Dialogue(source, secret: stored)
        let expired = try #require(error(late.begin(now: 1_795_960_800)))
        #expect(expired.message.hasSuffix("has expired; run `aws sso login`") && !expired.isTransient)
        var dialogue = Dialogue(source, secret: stored)
        let asked = try #require(question(dialogue.begin(now: 1_795_960_799)))
        #expect(asked.url == "https://portal/federation/credentials?account_id=1&role_name=R%2Fx")
        #expect(asked.headers == [HeaderField("x-amz-sso_bearer_token", "hush")])
        let answer = #"""
            {"roleCredentials": {"accessKeyId": "AK", "secretAccessKey": "hush", "sessionToken": "quiet",
             "expiration": 1795960800000}}
            """#
        #expect(dialogue.answered(200, Array(answer.utf8)) == .done(Self.lease))
    }

    @Test(arguments: [(403, false), (404, false), (429, true), (500, true), (503, true)])
    func refusalsAreTransientByTheirClass(_ status: Int, _ isTransient: Bool) throws {
        for source in [Self.container, Self.identity] {
            var dialogue = Dialogue(source, secret: "hush")
            _ = dialogue.begin(now: 0)
            let body = "<ErrorResponse><Error><Code>ExpiredToken</Code><Message>hush</Message></Error></ErrorResponse>"
            let failure = try #require(error(dialogue.answered(status, Array(body.utf8))))
            #expect(failure.isTransient == isTransient && failure.status == nil && failure.code == .secretMissing)
            #expect(failure.message.contains("answered \(status) (ExpiredToken)") && !failure.message.contains("hush"))
        }
    }

    @Test(arguments: [
        "", "[]", "hush", #"{"Version": 1}"#, #"{"AccessKeyId": "a", "SecretAccessKey": "hush"}"#,
        #"{"Version": 2, "AccessKeyId": "a", "SecretAccessKey": "hush"}"#,
        #"{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "hush", "Expiration": "hush"}"#,
        #"{"Version": 1, "AccessKeyId": "a\n", "SecretAccessKey": "hush"}"#,
        #"{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "hush""#,
    ])
    func outputThatIsNoCredentialsIsRefusedWithoutBeingShown(_ output: String) {
        let failure = #expect(throws: TransferError.self) {
            try S3CredentialAnswer.json(Array(output.utf8), from: Self.process)
        }
        #expect(failure?.message.hasPrefix("no S3 credentials: credential_process of the profile p ") == true)
        #expect(failure?.message.contains("hush") == false)
    }

    @Test func aProcessMayGiveKeysWithoutAnEnd() throws {
        let output = #"{"Version": 1, "AccessKeyId": "AK", "SecretAccessKey": "hush"}"#
        let lease = try S3CredentialAnswer.json(Array(output.utf8), from: Self.process)
        #expect(lease == S3CredentialLease(credentials: S3Credentials(accessKey: "AK", secret: "hush")))
        let zoned = output.dropLast() + #", "SessionToken": "quiet", "Expiration": "2026-11-29T14:00:00+00:00"}"#
        #expect(try S3CredentialAnswer.json(Array(zoned.utf8), from: Self.process) == Self.lease)
    }

    @Test func credentialsAreRenewedOnceBeforeTheirEndAndUsedUntilThen() async {
        let memory = S3CredentialMemory()
        await confirmation("renewals", expectedCount: 2) { renewal in
            memory.onRenewal { _ in renewal() }
            #expect(memory.current(Self.container, now: 0) == nil && !memory.knows(Self.container))
            memory.took(
                S3CredentialLease(credentials: Self.lease.credentials, expires: 1000), from: Self.container, now: 0)
            #expect(memory.current(Self.container, now: 699) != nil, "none is due")
            for now: Int64 in 700...710 { #expect(memory.current(Self.container, now: now) != nil) }
            memory.failed(Self.container, TransferError(.secretMissing, "no"), now: 710)
            #expect(memory.current(Self.container, now: 739) != nil, "the pause is not over")
            #expect(memory.current(Self.container, now: 740) != nil)
            #expect(memory.current(Self.container, now: 1000) == nil)
        }
        memory.took(Self.lease, from: Self.container, now: 1000)
        memory.expired("AK", of: Self.container, now: 1000)
        #expect(memory.current(Self.container, now: 1000) == nil, "a server has refused them")
    }

    /// A source gives the same credentials again, or ones that live for less than five minutes.
    @Test(arguments: [1001, 1030, 1299, 1300] as [Int64])
    func credentialsThatAreDueAtOnceAreRenewedAfterAPause(_ end: Int64) async {
        let memory = S3CredentialMemory()
        let lease = S3CredentialLease(credentials: Self.lease.credentials, expires: end)
        let reached = min(end - 1, 1000 + S3CredentialMemory.pause)
        await confirmation("renewals", expectedCount: reached == 1030 ? 1 : 0) { renewal in
            memory.onRenewal { source in
                renewal()
                memory.took(lease, from: source, now: reached)
            }
            memory.took(lease, from: Self.container, now: 1000)
            for now in 1000...reached { #expect(memory.current(Self.container, now: now) != nil) }
            #expect(memory.current(Self.container, now: reached) != nil, "the next pause has begun")
        }
    }

    @Test(arguments: [(false, S3CredentialMemory.pause), (true, S3CredentialMemory.briefPause)])
    func aFailureIsTheAnswerToEveryJobForAPause(_ isTransient: Bool, _ pause: Int64) {
        let memory = S3CredentialMemory()
        let error = TransferError(.secretMissing, "no", isTransient: isTransient)
        #expect(memory.failure(of: Self.container, now: 1000) == nil)
        memory.failed(Self.container, error, now: 1000)
        #expect(memory.failure(of: Self.container, now: 1000) == error && !memory.knows(Self.container))
        #expect(memory.failure(of: Self.container, now: 1000 + pause - 1) == error)
        #expect(memory.failure(of: Self.container, now: 1000 + pause) == nil)
        #expect(memory.failure(of: Self.container, now: 999) == nil, "the clock was set back")
        #expect(memory.failure(of: Self.process, now: 1000) == nil, "another source")
        memory.took(Self.lease, from: Self.container, now: 1000)
        #expect(memory.failure(of: Self.container, now: 1000) == nil)
    }

    /// Requests that were signed with the older key are refused after the newer one has come.
    @Test func aLateRefusalOfAnOlderKeyLeavesTheNewerOneInUse() {
        let memory = S3CredentialMemory()
        let newer = S3CredentialLease(credentials: S3Credentials(accessKey: "NEW", secret: "hush"), expires: 9000)
        memory.took(Self.lease, from: Self.container, now: 1000)
        memory.expired("AK", of: Self.container, now: 1000)
        #expect(memory.newest(Self.container, now: 1000) == Self.lease.credentials, "no others are there yet")
        memory.took(newer, from: Self.container, now: 1000)
        memory.expired("AK", of: Self.container, now: 1001)
        #expect(memory.current(Self.container, now: 1001) == newer.credentials)
        memory.expired("NEW", of: Self.container, now: 1002)
        #expect(memory.current(Self.container, now: 1002) == nil)
        #expect(memory.newest(Self.container, now: 1002) == newer.credentials, "the older ones are as dead")
        #expect(memory.newest(Self.process, now: 1002) == nil)
    }
}
