import Testing
import TransferCore

@testable import TransferJobs

/// The rules of ssh_config(5). `SSHConfigurationAgreementTests` compares them with ssh itself.
@Suite struct SSHConfigurationTests {
    private func configuration(_ files: [String: String], _ paths: [String] = ["/u"]) -> SSHConfiguration {
        SSHConfiguration(
            paths.map { SSHConfiguration.File($0, includes: "/home/u/.ssh") }, home: "/home/u", localUser: "me",
            variable: { $0 == "KEYS" ? "/keys" : nil }, read: { files[$0].map { Array($0.utf8) } },
            matches: { pattern in
                guard pattern.hasSuffix("*") else { return [pattern] }
                return files.keys.filter { $0.hasPrefix(pattern.dropLast()) }.sorted()
            })
    }

    private func settings(_ text: String, host: String = "nas", port: Int? = nil, user: String? = nil) throws
        -> SSHHostSettings
    {
        try configuration(["/u": text]).settings(host: host, port: port, user: user)
    }

    private func refusal(_ text: String) -> TransferError? {
        do throws(TransferError) {
            _ = try configuration(["/u": text]).settings(host: "nas")
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("Host nas\nPort 5", 5), ("Host NAS\nPort 5", 5), ("Host n?s\nPort 5", 5), ("Host n*\nPort 5", 5),
            ("Host x nas\nPort 5", 5), ("Host \"nas\"\nPort 5", 5), ("Host * !nas\nPort 5", nil),
            ("Host !other\nPort 5", nil), ("Host n\nPort 5", nil), ("Host nas,x\nPort 5", nil), ("Port 5", 5),
            ("Host x\nPort 4\nHost *\nPort 5", 5), ("Port 5\nHost nas\nPort 6", 5),
            ("  host=nas\r\n\tPORT = 5 # c\r\n", 5),
            ("# Port 4\n\nPort \"5\"", 5), ("Foreign \"x\nPort 5", 5), ("Match all\nPort 5", 5),
            ("Match host nas\nPort 5", 5), ("Match !host nas\nPort 5", nil), ("Match user me\nPort 5", 5),
            ("Match localuser you\nPort 5", nil), ("Match exec true\nPort 5", nil),
            ("Match final\nPort 4\nHost *\nPort 5", 5), ("HostName a.b\nMatch host *.b\nPort 5", 5),
            ("HostName a.b\nMatch originalhost *.b\nPort 5", nil),
        ] as [(String, Int?)])
    func theFirstValueOfAMatchingBlockCounts(_ text: String, _ port: Int?) throws {
        #expect(try settings(text).port == port)
    }

    @Test func eachKeywordIsRead() throws {
        let found = try settings(
            """
            HostName %h.Example
            User "ann b"
            IdentityFile ~/.ssh/%n-%p
            IdentityFile ${KEYS}/%h%%%r
            IdentityFile ~/.ssh/%n-%p
            UserKnownHostsFile %d/a "/b c"
            GlobalKnownHostsFile none
            IdentityAgent none
            """)
        var expected = SSHHostSettings()
        expected.hostName = "nas.example"
        expected.user = "ann b"
        expected.identityFiles = ["/home/u/.ssh/nas-22", "/keys/nas.example%ann b"]
        expected.knownHosts = ["/home/u/a", "/b c"]
        expected.systemKnownHosts = []
        expected.hasNoAgent = true
        #expect(found == expected)
        #expect(try settings("") == SSHHostSettings())
        #expect(try settings("IdentityFile none").identityFiles == [])
    }

    @Test func aNamedPortAndUserTakePrecedence() throws {
        let found = try settings("Port 5\nUser ann\nMatch user bob\nIdentityFile /k/%r%p", port: 7, user: "bob")
        #expect(found.port == 7 && found.identityFiles == ["/k/bob7"])
    }

    @Test func theUsersFileComesBeforeTheAdministrators() throws {
        let files = ["/u": "Host nas\nPort 5", "/s": "Host *\nPort 6\nUser ann"]
        let found = try configuration(files, ["/u", "/missing", "/s"]).settings(host: "nas")
        #expect(found.port == 5 && found.user == "ann")
    }

    @Test func includedFilesAreReadInTheirBlock() throws {
        let files = [
            "/u": "Host nas\nInclude conf.d/* ~/more\nHostName x\nHost *\nPort 8",
            "/home/u/.ssh/conf.d/1": "User ann\nHost other\nPort 9", "/home/u/.ssh/conf.d/2": "User bob",
            "/home/u/more": "Host nas\nIdentityFile /k",
        ]
        let found = try configuration(files).settings(host: "nas")
        #expect(found.user == "ann" && found.hostName == "x" && found.port == 8 && found.identityFiles == ["/k"])
        let other = try configuration(files).settings(host: "other")
        #expect(other.user == nil && other.hostName == nil && other.port == 8)
    }

    @Test(arguments: [
        ("Port 0", "/u:1: not a port: 0"), ("\nPort 65536", "/u:2: not a port: 65536"),
        ("User \"x", "/u:1: a quote is not closed"), ("User", "/u:1: user has no value"),
        ("User a b", "/u:1: user has one value"), ("HostName %q", "/u:1: not a host's name"),
        ("HostName a/b", "/u:1: not a host's name"), ("Include /u", "/u:1: the files include each other too deeply"),
        ("IdentityFile %q", "ssh's configuration: an unknown % in the path %q"),
        ("IdentityFile ${NONE}/k", "ssh's configuration: the environment variable NONE is not set"),
        ("Host nas\nProxyJump gate", "/u:2: ProxyJump is not supported: "),
        ("ProxyCommand nc %h %p", "/u:1: ProxyCommand is not supported: "),
        ("ProxyJump none\nProxyCommand nc %h %p", "/u:2: ProxyCommand is not supported: "),
        ("ProxyJump gate\nProxyCommand none", "/u:1: ProxyJump is not supported: "),
    ])
    func aFaultNamesItsLine(_ text: String, _ message: String) {
        let error = refusal(text)
        #expect(error?.code == .invalidRequest && error?.message.hasPrefix(message) == true, "\(error as Any)")
        #expect(error?.isTransient != true)
    }

    @Test(arguments: [
        "ProxyJump none\nProxyJump gate", "ProxyCommand NONE \nProxyJump gate", "Host x\nProxyJump gate",
    ])
    func anExcludedProxyIsNone(_ text: String) { #expect(refusal(text) == nil) }

    @Test(arguments: [
        ("sftp://nas/f", "sftp://10.0.0.1:2222/f"), ("sftp://ann@nas/~/f?x#y", "sftp://ann@10.0.0.1:2222/~/f?x#y"),
        ("sftp://nas:22/f", "sftp://10.0.0.1:22/f"), ("sftp://nas:/f", "sftp://10.0.0.1:2222/f"),
        ("sftp://six/f", "sftp://[fd00::1]/f"), ("sftp://[::2]:9/f", "sftp://[::2]:9/f"),
        ("sftp://other/f", "sftp://other/f"),
    ])
    func theURLIsSentToTheRealServer(_ url: String, _ target: String) throws {
        let files = configuration(["/u": "Host nas\nHostName 10.0.0.1\nPort 2222\nHost six\nHostName fd00::1"])
        let authority = try #require(SSHAuthority(url))
        let found = try files.settings(host: authority.host, port: authority.port)
        #expect(authority.url(url, at: found) == target)
        #expect(SSHAuthority("ftp://nas/f") == nil)
    }

    @Test(arguments: [
        (#"k a "b c" d"#, ["a", "b c", "d"]), (#"k "x"y 'z' # c"#, ["xy", "z"]), (#"k a#b"#, ["a#b"]),
        (#"k a\ b \"c\" d\n "e\ f""#, ["a b", "\"c\"", #"d\n"#, #"e\ f"#]), ("k", []), (#"k """#, [""]),
    ])
    func argumentsAreSplitAsBySSH(_ line: String, _ words: [String]) {
        #expect(SSHConfigurationLine(ArraySlice(line.utf8))?.arguments == words)
    }
}
