import Testing
import TransferCore

@testable import TransferUpload

@Suite struct S3SettingsTests {
    private static let home = ["HOME": "/home/u"]

    private func settings(
        _ environment: [String: String], _ files: [String: String] = [:], profile: String? = nil
    ) -> S3Settings {
        S3Settings(profile: profile, environment: { environment[$0] }, readFile: { files[$0] })
    }

    private func refusal(_ settings: S3Settings) -> TransferError? {
        do throws(TransferError) {
            _ = try settings.credentials()
            return nil
        } catch {
            return error
        }
    }

    @Test func explicitCredentialsAreUsed() throws {
        let explicit = S3Credentials(accessKey: "X", secret: "Y")
        let found = try settings(["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "S"])
            .credentials(explicit: explicit)
        #expect(found == explicit)
    }

    @Test func theEnvironmentComesBeforeTheFiles() throws {
        let files = ["/home/u/.aws/credentials": "[default]\naws_access_key_id=F\naws_secret_access_key=G\n"]
        let environment = Self.home.merging(
            ["AWS_ACCESS_KEY_ID": " E\n", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T"]) { $1 }
        let found = try settings(environment, files).credentials()
        #expect(found == S3Credentials(accessKey: "E", secret: "S", sessionToken: "T"))
        let profile = try settings(environment, files, profile: "default").credentials()
        #expect(profile == S3Credentials(accessKey: "F", secret: "G"), "a profile that is asked for outranks it")
        let empty = try settings(Self.home.merging(["AWS_ACCESS_KEY_ID": ""]) { $1 }, files).credentials()
        #expect(empty.accessKey == "F", "empty is not set")
    }

    @Test func profilesAreFoundInBothFiles() throws {
        let files = [
            "/home/u/.aws/credentials": """
            # made by hand
            [default]
            aws_access_key_id = D
            aws_secret_access_key = a/b+c#d=   ; not the secret
            [work]\r
            AWS_ACCESS_KEY_ID=W\r
            aws_secret_access_key=w\r
            aws_session_token = tok==\r
            """,
            "/home/u/.aws/config": """
            [default]
            region = eu-west-1
            s3 =
              addressing_style = path
              region = nested
            [profile "my own"]
            aws_access_key_id = M
            aws_secret_access_key = m
            region=us-west-2
            endpoint_url = https://minio.example:9000
            [work]
            region = not-a-profile
            [profile work]
            region = ap-south-1
            """,
        ]
        func with(_ name: String) -> S3Settings { settings(["HOME": "/home/u", "AWS_PROFILE": name], files) }
        let standard = settings(Self.home, files)
        #expect(try standard.credentials() == S3Credentials(accessKey: "D", secret: "a/b+c#d="))
        #expect(standard.region == "eu-west-1")
        #expect(standard.endpoint == nil)
        #expect(
            try with("work").credentials() == S3Credentials(accessKey: "W", secret: "w", sessionToken: "tok=="))
        #expect(with("work").region == "ap-south-1")
        #expect(try with("my own").credentials() == S3Credentials(accessKey: "M", secret: "m"))
        #expect(with("my own").endpoint == "https://minio.example:9000")
    }

    @Test func regionAndEndpointFollowTheirOrder() {
        let files = ["/home/u/.aws/config": "[default]\nregion=f\nendpoint_url=https://f.example\n"]
        var environment = Self.home
        #expect(settings(environment, files).region == "f")
        environment["AWS_DEFAULT_REGION"] = "d"
        #expect(settings(environment, files).region == "d")
        environment["AWS_REGION"] = "r"
        #expect(settings(environment, files).region == "r")
        environment["AWS_ENDPOINT_URL"] = "https://e.example"
        #expect(settings(environment, files).endpoint == "https://e.example")
        environment["AWS_ENDPOINT_URL_S3"] = "https://s.example"
        #expect(settings(environment, files).endpoint == "https://s.example")
        #expect(settings([:]).region == nil)
    }

    @Test func filesMayBeElsewhere() throws {
        let files = ["/etc/c": "[default]\naws_access_key_id=A\naws_secret_access_key=B\nregion=q\n"]
        let absolute = settings(["AWS_SHARED_CREDENTIALS_FILE": "/etc/c"], files)
        #expect(try absolute.credentials().accessKey == "A")
        #expect(absolute.region == "q")
        let relative = settings(
            ["HOME": "/h", "AWS_CONFIG_FILE": "~/x"],
            ["/h/x": "[default]\naws_access_key_id=A2\naws_secret_access_key=B\n"])
        #expect(try relative.credentials().accessKey == "A2")
    }

    @Test func errorsSayWhereItWasLooked() {
        let nothing = refusal(settings(Self.home))
        #expect(nothing?.code == .secretMissing)
        #expect(
            nothing?.message
                == "no S3 credentials; looked at AWS_ACCESS_KEY_ID in the environment, "
                + "/home/u/.aws/credentials (cannot be read), /home/u/.aws/config (cannot be read)")
        let wrong = refusal(
            settings(
                Self.home,
                ["/home/u/.aws/credentials": "[b]\n", "/home/u/.aws/config": "[profile a]\nregion=x\n"], profile: "a"))
        #expect(
            wrong?.message
                == "no S3 credentials; looked at /home/u/.aws/credentials (has no profile a), "
                + "profile a in /home/u/.aws/config (has no aws_access_key_id)")
        #expect(refusal(settings([:]))?.message.hasSuffix("HOME, which is not set") == true)
        #expect(
            refusal(settings(["AWS_ACCESS_KEY_ID": "A"]))?.message
                == "AWS_ACCESS_KEY_ID is set in the environment, but AWS_SECRET_ACCESS_KEY is not")
        #expect(
            refusal(settings(["AWS_SECRET_ACCESS_KEY": "hush"]))?.message
                == "AWS_SECRET_ACCESS_KEY is set in the environment, but AWS_ACCESS_KEY_ID is not")
        let half = refusal(settings(Self.home, ["/home/u/.aws/credentials": "[default]\naws_access_key_id=A\n"]))
        #expect(
            half?.message
                == "profile default in /home/u/.aws/credentials has aws_access_key_id but no aws_secret_access_key")
        let role = refusal(settings(Self.home, ["/home/u/.aws/config": "[default]\nrole_arn = arn:x\n"]))
        #expect(role?.message.contains("needs either a source_profile or a credential_source") == true)
    }

    @Test func secretsAreInNoDescription() {
        let credentials = S3Credentials(accessKey: "AKID", secret: "hush", sessionToken: "quiet")
        var dumped = ""
        dump(credentials, to: &dumped)
        let location = try? S3Location("s3://b/k")
        let dialogue = location.map {
            S3Dialogue(location: $0, credentials: credentials, source: UploadSource(name: "k", size: 1))
        }
        var whole = ""
        dump(dialogue, to: &whole)
        #expect(whole.contains("AKID"))
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\(dialogue as Any)", whole] {
            #expect(!text.contains("hush") && !text.contains("quiet"))
        }
    }

    @Test(arguments: [
        "", "[", "]", "[]", "=", "a=b", "[a\nk=v", "[profile]\nk=v", "[x]\n=\n\t=\n", "\u{FEFF}[a]\nk=v\n",
    ])
    func malformedFilesAreReadPartially(_ text: String) {
        for kind in [AWSProfiles.Kind.credentials, .config] {
            let profiles = AWSProfiles(text, kind)
            #expect(profiles.settings.values.allSatisfy { $0.count <= 1 })
        }
        #expect(AWSProfiles("\u{FEFF}[a]\nk=v\n", .credentials).settings == ["a": ["k": "v"]])
    }
}
