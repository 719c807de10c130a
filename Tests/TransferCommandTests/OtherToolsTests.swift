import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Options that users of other tools type: each is accepted, or answered with the equivalent of this command.
@Suite struct OtherToolsTests {
    /// A command line, and the required parts of the answer; none where the option is the default behaviour.
    static let lines: [(String, [String])] = [
        // curl
        ("get -b name=secret URL", ["name a file of cookies"]),
        ("put -X PATCH f URL", ["no -X here: --method PATCH", "Here:    transfer put --method PATCH f URL"]),
        ("get -u me:secret URL", ["--password '$VARIABLE'"]),
        ("get -u me URL", ["a user needs --password or --netrc"]),
        ("get --netrc-path=f URL", ["--netrc-file f"]),
        ("get --data-binary @f URL", ["no --data-binary here: --data @f", "Here:    transfer get --data @f URL"]),
        ("get -F file=@x URL", ["--protocol multipart"]),
        ("get -T f URL", ["`transfer put FILE"]),
        ("get --json {\"a\":1} URL", ["--data TEXT -H"]),
        ("get -I URL", ["--dry-run"]),
        ("get -r 0-99 URL", ["files are fetched whole"]),
        ("get --http-accept-gzip URL", ["no --http-accept-gzip here: --compressed"]),
        ("get --compression auto URL", ["--compressed has a file compressed"]),
        ("put --compressed f URL", ["files are sent as they are"]),
        ("get --cookie-jar j URL", ["cookies of answers are not kept"]),
        ("get -m 10 URL", ["no -m here: --max-time 10"]),
        ("get --retry-max-time 3 URL", ["\"maxWait\""]),
        ("get -Y 1000 -y 30 URL", ["\"lowSpeed\""]),
        ("get --max-redirs 3 URL", ["\"maxRedirects\""]),
        ("get --max-filesize 3 URL", ["nothing bounds the size"]),
        ("get -x http://proxy.example:3128 URL", ["no -x here: --proxy http://proxy.example:3128"]),
        ("get -x proxy.example:3128 URL", ["--proxy proxy.example:3128"]),
        ("get --noproxy '*' URL", []),
        (
            "get --pinnedpubkey sha256//x URL",
            ["'sha256//x' is invalid for '--pinnedpubkey", "44 characters of base 64"]
        ),
        ("get -4 URL", ["routes choose"]),
        ("get --resolve a:80:127.0.0.1 URL", ["/etc/hosts"]),
        ("get -O URL", ["-o FILE names one"]),
        ("get --output-dir d URL", ["no --output-dir here: --directory d"]),
        ("get -K f", ["no -K here: -i f --format curl", "Here:    transfer get -i f --format curl"]),
        ("run -K f", ["Here:    transfer run f --format curl"]),
        ("put -K f URL", ["transfer get -i FILE --format curl"]),
        ("get --conf-path=f URL", ["curl's with --format curl"]),
        ("get -s URL", ["no -s here: --quiet"]),
        ("get -w '%{http_code}' URL", ["--json reports"]),
        ("get --stderr f URL", ["2> FILE"]),
        ("get -L URL", []),
        ("get -f URL", []),
        ("get -S URL", []),
        ("get -R URL", []),
        ("get -C - URL", []),
        ("get -Z URL", []),
        ("get --create-dirs URL", []),
        ("get -J URL", []),
        ("get -# URL", []),
        ("get -fSL URL", []),
        ("get -kL URL", []),
        ("get -kLO URL", ["-o FILE names one"]),
        ("get --retry-connrefused URL", []),
        ("get magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", ["unsupported"]),
        ("get mailto:a@b.example", ["unsupported"]),
        ("get -fSLo new URL", []),
        ("get -fsSLo f URL", ["Here:    transfer get --quiet -o f URL"]),
        // wget
        ("get -c URL", []),
        ("get -N URL", []),
        ("get -nc URL", []),
        ("get --no-clobber URL", ["--if-exists skip keeps", "--if-exists rename gives"]),
        ("get -qO- URL", ["no -O here: --output -"]),
        ("get -qO f URL", ["no -O here: --output f", "Here:    transfer get -q --output f URL"]),
        ("get -qc URL", []),
        ("get --content-disposition URL", []),
        ("get -O f URL", ["no -O here: --output f"]),
        ("get -P d URL", ["no -P here: --directory d"]),
        ("get --directory-prefix=d URL", ["--directory d"]),
        (
            "get -t 3 URL",
            ["no -t here: --retry 2, as the first attempt is not counted", "Here:    transfer get --retry 2 URL"]
        ),
        ("get --tries=3 URL", ["--retry 2"]),
        ("get --tries=0 URL", ["--retry 1000000"]),
        ("get -T 10 URL", ["--timeout 10"]),
        ("get -w 2 URL", ["\"requestRate\""]),
        ("get --wait=2 URL", ["\"requestRate\""]),
        ("get -Q 1m URL", ["nothing bounds"]),
        ("get -b URL", ["-b takes cookies; `nohup`"]),
        ("get -m URL", ["web sites are not copied"]),
        ("get --mirror URL", ["web sites are not copied"]),
        ("get -r URL", ["web sites are not copied"]),
        ("get -np URL", ["web sites are not copied"]),
        ("get -p URL", ["web sites are not copied"]),
        ("get -l 3 URL", ["2> FILE"]),
        ("get --level=3 URL", ["web sites are not copied"]),
        ("get --cut-dirs=1 URL", ["web sites are not copied"]),
        ("get -o log URL", []),
        ("get -a log URL", ["--report FILE"]),
        ("get -nv URL", ["--quiet"]),
        ("get --show-progress URL", []),
        ("get --spider URL", ["--dry-run"]),
        ("get -U agent URL", ["-A names the agent"]),
        ("get --post-data=a=b URL", ["--data a=b"]),
        ("get --post-file=f URL", ["--data @FILE"]),
        ("get --http-user=me URL", ["--user me"]),
        ("get --http-password=secret URL", ["--password '$VARIABLE'"]),
        (
            "get --no-check-certificate URL",
            ["no --no-check-certificate here: --insecure", "Here:    transfer get --insecure URL"]
        ),
        ("get --ca-certificate=f URL", ["--cacert f"]),
        ("get --private-key=f URL", ["--key f"]),
        ("get --bind-address=1.2.3.4 URL", ["--interface 1.2.3.4"]),
        ("get --no-proxy URL", []),
        ("get --max-redirect=3 URL", ["\"maxRedirects\""]),
        ("get --waitretry=3 URL", ["--retry-delay 3"]),
        ("get --secure-protocol=TLSv1_2 URL", ["OpenSSL's ciphers"]),
        ("get --save-cookies f URL", ["cookies of answers are not kept"]),
        // aria2
        ("get -x 16 -s 16 URL", ["--segments N is how many connections one file gets"]),
        ("get -k 1M URL", ["pieces need no smallest size"]),
        ("get -k1M URL", ["pieces need no smallest size"]),
        ("get --split=5 URL", ["no --split here: --segments 5"]),
        ("get --min-split-size=1M URL", ["pieces need no smallest size"]),
        ("get --max-connection-per-server=4 URL", ["no --max-connection-per-server here: --segments 4"]),
        ("get --max-concurrent-downloads=4 URL", ["--concurrency 4"]),
        ("get --max-overall-download-limit=1M URL", ["--limit-rate 1M"]),
        ("get --max-tries=3 URL", ["--retry 2"]),
        ("get --retry-wait=3 URL", ["--retry-delay 3"]),
        ("get --lowest-speed-limit=10K URL", ["\"lowSpeed\""]),
        ("get --dir=d URL", ["--directory d"]),
        ("get --out=f URL", ["--output f"]),
        ("get --allow-overwrite=true URL", []),
        ("get --allow-overwrite=false URL", ["no --allow-overwrite=false here"]),
        ("get --all-proxy=http://p URL", ["--proxy http://p"]),
        ("get --check-certificate=false URL", ["--insecure any"]),
        ("get --file-allocation=none URL", ["as suits the disk"]),
        ("get --enable-rpc URL", ["`transfer status`"]),
        ("get --save-session=f URL", ["always durable"]),
        ("get -D URL", ["systemd's units"]),
        ("get --daemon URL", ["systemd's units"]),
        ("get -M f.meta4", ["torrents"]),
        ("get --torrent-file=f", ["torrents"]),
        ("get --seed-time=0 URL", ["torrents"]),
        ("get --summary-interval=0 URL", ["--json reports"]),
        ("get --log=f URL", ["2> FILE"]),
        ("get --auto-file-renaming=false URL", []),
        ("get --continue=true URL", []),
        ("get --remote-time=true URL", []),
        ("get --conf-path=f URL", ["job files"]),
        ("get --disable-ipv6 URL", ["routes choose"]),
        ("get --async-dns-server=1.1.1.1 URL", ["/etc/hosts"]),
        // rclone
        ("get --transfers 8 URL", ["--concurrency 8"]),
        ("get --checkers 8 URL", ["--per-host 8"]),
        ("get --bwlimit 1M URL", ["--limit-rate 1M"]),
        ("get --retries 3 URL", ["--retry 3"]),
        ("get --low-level-retries 3 URL", ["--retry 3"]),
        ("get --contimeout 10s URL", ["--connect-timeout 10s"]),
        ("get --tpslimit 10 URL", ["\"requestRate\""]),
        ("get --multi-thread-streams 4 URL", ["no --multi-thread-streams here: --segments 4"]),
        ("get --ignore-existing URL", []),
        ("get --update URL", []),
        ("get --stats 1s URL", ["--json reports"]),
        ("get --files-from f", ["--input-file f"]),
        ("get --log-file f URL", ["2> FILE"]),
        ("get --ca-cert f URL", ["--cacert f"]),
        ("get --client-cert f URL", ["--cert f"]),
        ("get --max-transfer 1G URL", ["nothing bounds"]),
        ("get --buffer-size 16M URL", ["as suits the disk"]),
        ("put --ftp-create-dirs f URL", ["--create-folders"]),
        // The option belongs to no tool, or is a misspelt one of ours.
        ("get --derectory d URL", ["no --derectory; did you mean --directory?"]),
        ("get --no-such-option URL", ["transfer get has no --no-such-option"]),
        ("get --limit-rat=1M URL", ["did you mean --limit-rate?"]),
        ("put -c jar.txt f URL", ["cookies of answers are not kept"]),
        ("get -x http://u:secret@p.example:1 URL", ["no -x here: --proxy http://"]),
        // Other tools use these letters with a different meaning.
        ("get --http2 URL", ["agree on the version"]),
        ("get -d name=value URL", ["--data is what a request says"]),
        ("get -d @f URL", ["--data is what a request says"]),
        ("get -A *.pdf URL", ["names are not matched"]),
        ("get -e robots=off URL", ["robots.txt is not asked"]),
        ("get -i URL", ["a line each; get"]),
    ]

    /// Options of other tools that this command has too.
    static let taken = [
        "get -A agent/1 URL",
        "get --user-agent=x URL",
        "get -e http://from.example/ URL",
        "get --referer http://from.example/ URL",
        "get -X POST URL",
        "get --data a=b URL",
        "get --max-time 10 URL",
        "get --connect-timeout 5 URL",
        "get --retry 3 URL",
        "get --retry-delay 3 URL",
        "get --cacert f URL",
        "get --cert f --key g URL",
        "get -k URL",
        "get --insecure URL",
        "get --interface lo URL",
        "get --http1.1 URL",
        "get -i f",
        "get --input-file=f",
        "get --load-cookies f URL",
        "get --timeout=10 URL",
        "get --dry-run URL",
        "get -n URL",
        "get --proxy-user me --proxy http://p --proxy-password $P URL",
        "run --retry 3 jobs.json",
        "run -A x jobs.json",
        "get -b f URL",
    ]

    @Test(arguments: taken) func aSharedOptionIsAccepted(_ line: String) async throws {
        try await withTestServer { server in
            server.handle(nil, "/x") { _ in Response(body: .text("x")) }
            let place = try Workplace()
            for name in ["f", "g"] { try place.folder.write("", to: name) }
            try place.folder.write(#"{"version": 1, "jobs": []}"#, to: "jobs.json")
            let words = line.split(separator: " ").map { $0 == "URL" ? server.url("/x") : String($0) }
            let result = try await place.command(words + ["--state", "st"]).run()
            #expect(result.exitCode != 64, "\(line): \(result)")
        }
    }

    @Test(arguments: lines.indices) func anOptionOfAnotherToolIsAcceptedOrAnswered(_ index: Int) async throws {
        let (line, answers) = Self.lines[index]
        try await withTestServer { server in
            server.serve("/x", .text("x"))
            let place = try Workplace()
            let url = server.url("/x")
            try place.folder.write("", to: "f")
            try place.folder.write(#"{"version": 1, "jobs": []}"#, to: "jobs.json")
            let words = line.split(separator: " ").map { $0 == "URL" ? url : $0.filter { $0 != "'" } }
            let result = try await place.command(words + ["--state", "st"]).run()
            #expect(result.exitCode == (answers.isEmpty ? 0 : 64), "\(line): \(result)")
            #expect(server.requests.count == (answers.isEmpty ? 1 : 0), "\(line)")
            for answer in answers {
                let said = answer.replacing(" URL", with: " \(url)")
                #expect(result.standardError.contains(said), "\(line): \(result.standardError)")
            }
            #expect(!result.standardError.contains("secret"), "\(line): \(result.standardError)")
        }
    }

    @Test(arguments: [
        ("staus", "did you mean `transfer status`?"), ("runn", "did you mean `transfer run`?"),
        ("download", "did you mean `transfer get`?"), ("http://a.example/x", "`transfer get URL` downloads it"),
        ("frobnicate", "`transfer --help` lists the commands"),
    ])
    func aCommandThatIsNotThereIsAnswered(_ word: String, _ answer: String) async throws {
        let result = try await Workplace().run(word)
        #expect(result.exitCode == 64)
        #expect(result.standardError.hasPrefix("transfer: \(word) is no command; \(answer)"), "\(result)")
    }

    /// The suggested command repeats the typed words, except secrets: error messages end up in mails and logs.
    @Test(arguments: [
        ["-H", "Authorization: Bearer hunter2"], ["-b", "sid=hunter2"], ["--proxy", "http://u:hunter2@p.example"],
    ])
    func theCommandToPasteRepeatsNoSecret(_ words: [String]) async throws {
        let place = try Workplace()
        let result = try await place.command(["get", "--max-concurrent-downloads=4", "http://127.0.0.1:9/x"] + words)
            .run()
        #expect(result.exitCode == 64 && result.standardError.contains("--concurrency 4"), "\(result)")
        #expect(!result.standardError.contains("hunter2"), "\(result)")
    }

    @Test func everyOptionIsAnsweredAtOnce() async throws {
        let result = try await Workplace().run(
            "get", "--resolve", "a:1:b", "--max-redirs", "3", "-I", "http://127.0.0.1:1/x")
        #expect(
            result.standardError.split(separator: "\n").count == 4, "three answers and where the options are: \(result)"
        )
    }
}
