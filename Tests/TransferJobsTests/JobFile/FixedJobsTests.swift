import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// The stability of canonical texts and fingerprints. Databases hold both, so a change of the code must not change
/// them.
@Suite struct FixedJobsTests {
    /// A line of a job file, its canonical text, and its fingerprint.
    struct Job: Sendable, CustomTestStringConvertible {
        var line: String
        var canonical: String
        var fingerprint: Int64

        var testDescription: String { canonical }
    }

    static let jobs: [Job] = [
        Job(
            line: #"{"download": "http://h/f", "to": "f"}"#,
            canonical:
                #"{"download":"http://h/f","to":"f"}"#,
            fingerprint: 8_812_481_105_637_206_570),
        Job(
            line:
                #"{"id": "é", "download": ["https://a.example/x?X-Amz-Signature=s&a=b", "ftp://b.example/x"], "to": "d/./x", "needs": ["a", "b"], "priority": -5, "segments": 4, "ifExists": "update", "adopt": "unproven", "remoteTime": false, "method": "POST", "body": "a=1\n\u0001"}"#,
            canonical:
                #"{"id":"é","download":["https://a.example/x?X-Amz-Signature=s&a=b","ftp://b.example/x"],"to":"d/x","segments":4,"ifExists":"update","adopt":"unproven","method":"POST","body":"a=1\u000a\u0001","remoteTime":false,"needs":["a","b"],"priority":-5}"#,
            fingerprint: 8_272_421_688_170_552_185),
        Job(
            line:
                #"{"download": "http://h/f", "to": "d/", "checksum": "SHA-256=0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef", "pieces": {"digests": ["md5:000102030405060708090a0b0c0d0e0f", "md5:0f0e0d0c0b0a09080706050403020100"], "length": "1M"}, "strict": true}"#,
            canonical:
                #"{"download":"http://h/f","to":"d/","checksum":"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","pieces":{"length":1048576,"digests":["md5:000102030405060708090a0b0c0d0e0f","md5:0f0e0d0c0b0a09080706050403020100"]},"strict":true}"#,
            fingerprint: 5_840_337_147_219_301_385),
        Job(
            line:
                #"{"download": "http://h/f", "to": "/f", "headers": {"X-B": "b", "Authorization": {"env": "TOKEN"}, "x-a": {"file": "/a"}}, "connectTimeout": "1.5s", "timeout": 90, "maxTime": "1h30m", "lowSpeed": {"rate": "1K"}, "limitRate": "10M", "maxRedirects": 3}"#,
            canonical:
                #"{"download":"http://h/f","to":"/f","headers":{"X-B":"b","Authorization":{"env":"TOKEN"},"x-a":{"file":"/a"}},"connectTimeout":1.5,"timeout":90,"lowSpeed":{"rate":1024,"time":30},"maxTime":5400,"limitRate":10485760,"maxRedirects":3}"#,
            fingerprint: -4_142_630_485_069_665_735),
        Job(
            line:
                #"{"download": "http://h/f", "to": "f", "retry": {"limit": 3, "base": 3, "scale": 0, "maxDelay": "250ms", "maxWait": "1d", "jitter": false, "statusCodes": [503, 500, 500], "methods": ["PUT", "GET"]}}"#,
            canonical:
                #"{"download":"http://h/f","to":"f","retry":{"limit":3,"base":3,"scale":0,"maxDelay":0.25,"maxWait":86400,"jitter":false,"statusCodes":[500,503],"methods":["GET","PUT"]}}"#,
            fingerprint: 8_812_481_105_637_206_570),
        Job(
            line:
                #"{"download": "http://h/f", "to": "f", "proxy": {"url": "socks5h://p:1080", "user": "u", "password": {"credential": "p"}}, "noProxy": "a, .b", "tls": {"ca": "ca.pem", "cert": "c.pem", "key": "k.pem", "keyPassphrase": {"file": "p"}, "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}, "auth": {"netrc": true, "user": "me"}}"#,
            canonical:
                #"{"download":"http://h/f","to":"f","proxy":{"url":"socks5h://p:1080","user":"u","password":{"credential":"p"}},"noProxy":"a, .b","tls":{"ca":"ca.pem","cert":"c.pem","key":"k.pem","keyPassphrase":{"file":"p"},"pins":["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]},"auth":{"netrc":true,"user":"me"}}"#,
            fingerprint: 8_812_481_105_637_206_570),
        Job(
            line:
                #"{"download": "sftp://h/f", "to": "f", "proxy": "", "auth": {"bearer": {"env": "T"}}, "ssh": {"user": "ann", "knownHosts": "k", "hostKey": "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "key": "i", "keyPassphrase": {"env": "P"}, "agent": false}, "ftp": {"requireTLS": true, "active": true}}"#,
            canonical:
                #"{"download":"sftp://h/f","to":"f","proxy":"","auth":{"bearer":{"env":"T"}},"ssh":{"user":"ann","knownHosts":"k","hostKey":"SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","key":"i","keyPassphrase":{"env":"P"},"agent":false},"ftp":{"requireTLS":true,"active":true}}"#,
            fingerprint: 8_720_238_885_292_802_312),
        Job(
            line:
                #"{"download": "http://h/f", "to": "f", "network": {"schedule": ["Mon-Fri 22:00-6:00", "Sat,Sun"], "allow": ["ethernet", "vpn", "wwan*"], "avoid": ["wifi"], "prefer": ["name:lan"], "require": "wg0", "metered": "avoid", "meteredBudget": "500M/day", "meteredAfter": "24h"}, "ftp": {}, "ssh": {}, "s3": {}}"#,
            canonical:
                #"{"download":"http://h/f","to":"f","s3":{},"ssh":{},"ftp":{},"network":{"allow":["ethernet","vpn","wwan*"],"avoid":["wifi"],"prefer":["name:lan"],"require":"wg0","metered":"avoid","meteredBudget":"524288000/day","meteredAfter":86400,"schedule":["Mon-Fri 22:00-06:00","Sat-Sun 00:00-24:00"]}}"#,
            fingerprint: -8_778_265_263_094_136_370),
        Job(
            line: #"{"upload": "out/f", "to": "http://h/d/"}"#,
            canonical:
                #"{"upload":"out/f","to":"http://h/d/f"}"#,
            fingerprint: -8_993_411_960_831_222_859),
        Job(
            line:
                #"{"upload": "/f", "to": "s3://b/k", "s3": {"endpoint": "https://s.example/x", "region": "r", "style": "virtual-host", "profile": "p", "integrity": "stored-sha256", "accessKey": "A", "secretKey": {"env": "S"}, "sessionToken": {"file": "t"}}, "metadata": {"b": "1", "a": {"env": "A"}}, "chunkSize": "8M", "parallel": 4, "ifChanged": "fail"}"#,
            canonical:
                #"{"upload":"/f","to":"s3://b/k","protocol":"s3","chunkSize":8388608,"parallel":4,"ifChanged":"fail","metadata":{"b":"1","a":{"env":"A"}},"s3":{"endpoint":"https://s.example/x","region":"r","style":"virtual-host","profile":"p","integrity":"stored-sha256","accessKey":"A","secretKey":{"env":"S"},"sessionToken":{"file":"t"}}}"#,
            fingerprint: 6_109_374_218_680_282_020),
        Job(
            line:
                #"{"upload": "f", "to": "http://h/form", "protocol": "multipart", "method": "PUT", "fields": {"b": "1", "a": {"credential": "c"}}, "fileField": "doc", "success": [204, 201], "checksum": "sha1:0123456789abcdef0123456789abcdef01234567"}"#,
            canonical:
                #"{"upload":"f","to":"http://h/form","protocol":"multipart","method":"PUT","checksum":"sha1:0123456789abcdef0123456789abcdef01234567","success":[201,204],"fields":{"b":"1","a":{"credential":"c"}},"fileField":"doc"}"#,
            fingerprint: 140_166_084_677_150_479),
        Job(
            line:
                #"{"upload": "f", "to": "https://h/files", "protocol": "tus", "tus": {"checksum": "sha1", "createWithUpload": true}, "metadata": {"n": "v"}, "auth": {"user": "u", "password": {"env": "P"}}}"#,
            canonical:
                #"{"upload":"f","to":"https://h/files","protocol":"tus","metadata":{"n":"v"},"tus":{"checksum":"sha1","createWithUpload":true},"auth":{"user":"u","password":{"env":"P"}}}"#,
            fingerprint: 7_411_859_696_148_180_562),
        Job(
            line:
                #"{"upload": "f", "to": "ftp://h/d/", "inplace": true, "createFolders": true, "needs": ["x"], "priority": 7}"#,
            canonical:
                #"{"upload":"f","to":"ftp://h/d/f","protocol":"ftp","createFolders":true,"inplace":true,"needs":["x"],"priority":7}"#,
            fingerprint: 8_435_301_248_775_379_513),
    ]

    @Test(arguments: jobs) func canonicalTextsAndFingerprintsAreStable(_ job: Job) throws {
        let spec = try #require(try read(job.line, as: .jsonLines).jobs.first)
        #expect(spec.canonicalJSON == job.canonical)
        #expect(spec.fingerprint == job.fingerprint)
        let again = try JobSpec(canonicalJSON: job.canonical)
        #expect(again == spec && again.fingerprint == job.fingerprint)
    }
}
