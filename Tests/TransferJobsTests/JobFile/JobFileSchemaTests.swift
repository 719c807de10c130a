import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferWatch

@testable import TransferJobs

/// The agreement of `jobs/transfer-jobs.schema.json` with the decoder.
@Suite struct JobFileSchemaTests {
    private let schema: JSONSchema

    init() throws {
        // The path is relative to the tests, so the location of the package and the current folder do not matter.
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("jobs/transfer-jobs.schema.json"))
        schema = JSONSchema(root: try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any]))
    }

    @Test func hasTheDecodersKeysAtEveryLevel() throws {
        func keys(_ name: String?) throws -> Set<String> {
            let object = name.map { schema.definition($0) } ?? schema.root
            return Set(try #require(object["properties"] as? [String: Any]).keys)
        }
        #expect(try keys(nil) == Set(FileKey.table.names))
        #expect(try keys("limits") == Set(LimitKey.table.names))
        #expect(try keys("job") == Set(JobFields.all.table.names))
        #expect(try keys("watch") == Set(JobFields.all.watch.names))
        #expect(try keys("defaults") == Set(JobFields.all.defaults.names))
        #expect(try keys("retry") == Set(SettingsFields.retry.table.names))
        #expect(try keys("lowSpeed") == Set(SettingsFields.lowSpeedKeys.table.names))
        #expect(try keys("tls") == Set(SettingsFields.tls.table.names))
        #expect(try keys("auth") == Set(AccessFields.credentials.table.names))
        #expect(try keys("network") == Set(NetworkKey.table.names))
        #expect(NetworkFields.all.table.names == NetworkKey.table.names)
        #expect(try keys("proxyObject") == Set(AccessFields.credentialedProxy.table.names))
        #expect(try keys("secretName") == Set(SecretKey.table.names))
        #expect(try keys("s3") == Set(AccessFields.s3.table.names))
        #expect(try keys("ssh") == Set(AccessFields.ssh.table.names))
        #expect(try keys("ftp") == Set(AccessFields.ftp.table.names))
        #expect(try keys("tus") == Set(UploadFields.tus.table.names))
    }

    @Test func hasTheDecodersValuesAndRanges() throws {
        #expect(schema.definition("ifExists")["enum"] as? [String] == JobSpec.IfExists.allCases.map(\.rawValue))
        #expect(schema.definition("adopt")["enum"] as? [String] == JobSpec.Adopt.allCases.map(\.rawValue))
        #expect(schema.definition("protocol")["enum"] as? [String] == UploadRegistry.builtIn.map(\.rawValue))
        let watch = try #require(schema.definition("watch")["properties"] as? [String: [String: Any]])
        #expect(watch["order"]?["enum"] as? [String] == WatchOrder.allCases.map(\.rawValue))
        for (name, range) in [
            ("priority", FieldRanges.priorities),
            ("maxRedirects", FieldRanges.redirects),
        ] {
            #expect(schema.definition(name)["minimum"] as? Int == range.lowerBound)
            #expect(schema.definition(name)["maximum"] as? Int == range.upperBound)
        }
    }

    /// Members of a job, and whether they are valid.
    private static let members: [(String, Bool)] = [
        ("", true), (#""x-note": 1"#, true), (#""checksum": "md5:x""#, false), (#""segments": 16"#, true),
        (#""segments": 33"#, false),
        (#""id": "a/b""#, false), (#""id": "é""#, true), (#""needs": ["a", "a"]"#, false),
        (#""ifExists": "replace""#, false),
        (#""timeout": "1h30m""#, true), (#""timeout": 0"#, false), (#""timeout": "soon""#, false),
        (#""maxDelay": 1"#, false), (#""maxWait": 1"#, false),
        (#""retry": {"scale": 0, "statusCodes": [500]}"#, true), (#""retry": {"limit": -1}"#, false),
        (#""lowSpeed": {"rate": "1K", "time": 5}"#, true), (#""limitRate": "10MiB""#, true),
        (#""limitRate": "10X""#, false),
        (#""proxy": """#, true), (#""proxy": "socks5://h:1""#, true), (#""proxy": "ftp://h""#, false),
        (#""proxy": {"url": "http://h:1"}"#, true), (#""proxy": {"url": ""}"#, false), (#""proxy": {}"#, false),
        (#""proxy": {"url": "http://h", "user": "a", "password": {"env": "B"}}"#, true),
        (#""proxy": {"url": "http://h", "user": {"file": "a"}, "password": {"credential": "b"}, "x-y": 1}"#, true),
        (#""proxy": {"url": "http://h", "user": "a"}"#, false),
        (#""proxy": {"url": "http://h", "password": {"env": "B"}}"#, false),
        (#""proxy": {"url": "http://h", "user": "a", "password": "b"}"#, false),
        (#""proxy": {"url": "http://h", "user": "a:b", "password": {"env": "B"}}"#, false),
        (#""proxy": {"url": "http://a:b@h"}"#, false), (#""proxy": ["http://h"]"#, false),
        (#""tls": {"cert": "c", "keyPassphrase": {"env": "P"}}"#, true),
        (#""tls": {"cert": "c", "keyPassphrase": "p"}"#, false),
        (#""auth": {"netrc": "/etc/transfer/netrc"}"#, true), (#""auth": {"netrc": 1}"#, false),
        (#""auth": {"netrc": ""}"#, false), (#""auth": {"netrc": true}"#, true),
        (#""auth": {"netrc": true, "user": "a"}"#, true),
        (#""auth": {"netrc": true, "user": "a", "password": {"env": "B"}}"#, false), (#""auth": {"user": "a"}"#, false),
        (#""auth": {"user": "a", "password": "b"}"#, false),
        (#""auth": {"user": "a", "password": {"env": "B"}}"#, true),
        (#""headers": {"A": {"env": "B", "file": "c"}}"#, false),
        (#""headers": {"A": {"envv": "B"}}"#, false), (#""headers": {"A": 1}"#, false), (#""method": "G T""#, false),
        (#""upload": "f""#, false), (#""protocol": "put""#, false), (#""network": {}"#, true),
        (#""network": {"allow": ["ethernet", "vpn", "wwan*", "eth0", "name:lan", "br-lan"]}"#, true),
        (#""network": {"avoid": ["wfi"]}"#, false), (#""network": {"prefer": ["lan"]}"#, false),
        (#""network": {"prefer": "wifi"}"#, false), (#""network": {"allow": ["a/b0"]}"#, false),
        (#""network": {"require": "wg0"}"#, true), (#""network": {"require": "home"}"#, true),
        (#""network": {"require": ""}"#, true), (#""network": {"require": "a b"}"#, false),
        (#""network": {"metered": "forbid"}"#, true), (#""network": {"metered": "no"}"#, false),
        (#""network": {"meteredBudget": "500M/day"}"#, true), (#""network": {"meteredBudget": "1.5G/month"}"#, true),
        (#""network": {"meteredBudget": "unlimited"}"#, true), (#""network": {"meteredBudget": "0/day"}"#, false),
        (#""network": {"meteredBudget": "500M"}"#, false), (#""network": {"meteredBudget": "1M/year"}"#, false),
        (#""network": {"meteredAfter": "24h"}"#, true), (#""network": {"meteredAfter": 0}"#, true),
        (#""network": {"meteredAfter": "soon"}"#, false), (#""network": {"metred": "allow"}"#, false),
        (#""network": {"schedule": "22:00-06:00"}"#, true), (#""network": {"schedule": []}"#, true),
        (#""network": {"schedule": ["Mon-Fri 22:00-6:00", "Sat,Sun"]}"#, true),
        (#""network": {"schedule": "22-06"}"#, false), (#""network": {"schedule": "22:60-06:00"}"#, false),
        (#""network": {"schedule": 22}"#, false), (#""network": {"x-why": 1}"#, true),
        (#""remoteTime": 1"#, false),
        (#""proxy": null, "retry": null, "network": null, "remoteTime": null, "checksums": null"#, true),
        (#""retry": {"limit": null}, "headers": {"A": null}, "network": {"metered": null}"#, true),
        (#""id": null"#, false), (#""checksum": null"#, false), (#""auth": {"netrc": null}"#, false),
        (#""proxy": {"url": "http://h", "user": null}"#, false), (#""network": {"avoid": [null]}"#, false),
        (#""tls": {"pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}"#, true),
        (#""tls": {"pins": ["x"]}"#, false),
        (#""priority": 1.5"#, false), (#""maxRedirects": 101"#, false), (#""body": "x", "method": "POST""#, true),
    ]

    @Test(arguments: members)
    func agreesWithTheDecoderOnAJob(members: String, isValid: Bool) throws {
        let comma = members.isEmpty ? "" : ", "
        try check(#"{"version": 1, "jobs": [{"download": "http://h/f", "to": "f"\#(comma)\#(members)}]}"#, isValid)
    }

    /// Members of a watched folder, and whether they are valid.
    private static let watched: [(String, Bool)] = [
        ("", true), (#""x-note": 1"#, true), (#""include": "*.mp4", "exclude": ["a/", "{b,c}"]"#, true),
        (#""include": """#, false), (#""include": [1]"#, false), (#""recursive": 1"#, false),
        (#""settle": "500ms""#, true), (#""settle": 0"#, false), (#""then": "keep""#, true),
        (#""then": "drop""#, false),
        (#""then": {"move": "done", "x-a": 1}"#, true), (#""then": {}"#, false), (#""then": {"move": ""}"#, false),
        (#""then": {"copy": "d"}"#, false), (#""then": "delete", "keepFor": "7d""#, true),
        (#""then": "delete", "keepFor": 0"#, false), (#""newOnly": true"#, true), (#""newOnly": "yes""#, false),
        (#""order": "smallest""#, true), (#""order": "largest""#, false), (#""checksum": true"#, true),
        (#""checksum": "md5:x""#, false), (#""priority": 5, "method": "POST""#, true), (#""segments": 2"#, false),
        (#""needs": ["a"]"#, false), (#""id": "a""#, false), (#""ifExists": "skip""#, false),
        (#""protocol": "tus", "chunkSize": "64M", "metadata": {"a": "b"}"#, true), (#""ifChanged": "fail""#, true),
        (#""network": {"metered": "forbid"}, "headers": {"A": {"env": "B"}}"#, true),
        (#""auth": {"user": "a", "password": "b"}"#, false),
    ]

    @Test(arguments: watched)
    func agreesWithTheDecoderOnAWatchedFolder(members: String, isValid: Bool) throws {
        let comma = members.isEmpty ? "" : ", "
        try check(#"{"version": 1, "watch": [{"folder": "in", "to": "http://h/d/"\#(comma)\#(members)}]}"#, isValid)
    }

    @Test(arguments: [
        (#"{"version": 1, "watch": []}"#, true), (#"{"version": 1, "watch": {}}"#, false),
        (#"{"version": 1, "jobs": [], "watch": [1]}"#, false),
        (#"{"version": 1, "watch": [{"folder": "in"}]}"#, false),
        (#"{"version": 1, "watch": [{"to": "http://h/"}]}"#, false),
        (#"{"version": 1, "watch": [{"folder": "", "to": "http://h/"}]}"#, false),
        (#"{"version": 1, "watch": [{"folder": "in", "to": "d/"}]}"#, false),
        (#"{"version": 1, "watch": [{"folder": "in", "to": "http://h/{path}?d={date}"}]}"#, true),
        (#"{"version": 1, "watch": [{"folder": "in", "to": "http://h/{file}"}]}"#, false),
        (#"{"version": 1, "watch": [{"folder": "in", "to": "http://h/{name"}]}"#, false),
        (#"{"version": 1, "jobs": [{"watch": "in", "to": "http://h/"}]}"#, false),
    ])
    func agreesWithTheDecoderOnADocumentThatWatches(text: String, isValid: Bool) throws { try check(text, isValid) }

    @Test(arguments: [
        ("[]", false), ("{}", false), (#"{"version": 1, "jobs": []}"#, true), (#"{"version": 2, "jobs": []}"#, false),
        (#"{"version": 1, "jobs": [], "defaults": {"to": "x"}}"#, false),
        (#"{"version": 1, "jobs": [], "limits": {"perHost": "auto", "requestRate": "20/s", "concurrency": 1}}"#, true),
        (#"{"version": 1, "jobs": [], "limits": {"perHost": "all"}}"#, false),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/"}]}"#, true),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "d/f"}]}"#, false),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "segments": 2}]}"#, false),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "protocol": "tus", "chunkSize": "64M"}]}"#, true),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "chunkSize": 0}]}"#, false),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "s3://b/k", "s3": {"region": "x"}}]}"#, true),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "s3://b/k", "s3": {"secretKey": {"env": "x"}}}]}"#, false),
        (
            #"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "protocol": "multipart", "fields": {"a": "b"}}]}"#,
            true
        ),
        (
            #"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "fileField": "", "protocol": "multipart"}]}"#,
            false
        ),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/", "checksum": "md5:x"}]}"#, false),
        (#"{"version": 1, "jobs": [{"to": "f"}]}"#, false),
        (#"{"version": 1, "jobs": [{"download": "http://h/"}]}"#, false),
        (#"{"version": 1, "jobs": [{"download": [], "to": "f"}]}"#, false),
        (#"{"version": 1, "jobs": [{"download": "ftp://h/", "to": "f"}]}"#, true),
        (#"{"version": 1, "jobs": [{"download": "SFTP://h:2/x", "to": "f", "ssh": {"agent": false}}]}"#, true),
        (#"{"version": 1, "jobs": [{"download": "sftp://ann@h/x", "to": "f"}]}"#, false),
        (#"{"version": 1, "jobs": [{"download": "gopher://h/", "to": "f"}]}"#, false),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "ftps://h/x", "ftp": {"active": true}}]}"#, true),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "ftp://h/x", "ftp": {"activ": true}}]}"#, false),
        (#"{"version": 1, "jobs": [{"upload": "f", "to": "sftp://h/x", "ssh": {"hostKey": "SHA256:x"}}]}"#, false),
        (
            #"{"version": 1, "jobs": [{"upload": "f", "to": "sftp://h/x", "ssh": {"key": "k", "keyPassphrase": "p"}}]}"#,
            false
        ),
        (#"{"version": 1, "jobs": [{"download": "http://u@h/", "to": "f"}]}"#, false),
        (#"{"version": 1, "name": "", "jobs": []}"#, false), (#"{"version": 1, "nme": "", "jobs": []}"#, false),
    ])
    func agreesWithTheDecoderOnADocument(text: String, isValid: Bool) throws { try check(text, isValid) }

    private func check(_ text: String, _ isValid: Bool) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(schema.accepts(value) == isValid, "schema")
        #expect(try read(text).faults.isEmpty == isValid, "decoder")
    }
}
