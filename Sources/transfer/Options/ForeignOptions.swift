/// The table of other tools' options, from their manuals (curl 7.88, wget 1.21, aria2 1.36, rclone 1.60).
enum ForeignOptions {
    static func has(_ name: String) -> Bool { byName[name] != nil }

    /// Finds an option.
    ///
    /// - Parameter value: The word that follows the option. Some letters have several meanings in different tools, and
    ///   that word selects one. A URL to transfer is no value of an option.
    static func find(_ name: String, value: String?) -> ForeignOption? {
        guard let meanings = byName[name] else { return nil }
        let isURL = value?.contains("://") ?? false
        let mayBeValue = value.map { $0 == "-" || !$0.hasPrefix("-") } ?? false
        // A meaning with a value comes first: otherwise the value would be left to be transferred.
        let ordered = meanings.filter { $0.value != .nothing } + meanings.filter { $0.value == .nothing }
        return ordered.first { option in
            switch option.value {
            case .nothing: true
            case .anything: mayBeValue && (!isURL || option.takesURL)
            case .number: value?.first?.isNumber ?? false
            case .seconds: value.flatMap { Double($0) } != nil
            }
        } ?? meanings.first { $0.value != .number && $0.value != .seconds }
    }

    private static let byName: [String: [ForeignOption]] = {
        var names: [String: [ForeignOption]] = [:]
        for option in all { for name in option.names { names[name, default: []].append(option) } }
        return names
    }()

    static var all: [ForeignOption] { always + requests + limits + places + connections + elsewhere }

    // "=" behind the names means that a value follows; "=#" a value that begins with a digit; "=s" a number of seconds.

    private static let always = [
        ForeignOption("-L --location", .always("redirects are followed")),
        ForeignOption("-f --fail", .always("an error status fails the job")),
        ForeignOption("-S --show-error", .always("errors are always reported")),
        ForeignOption("-R --remote-time", .always("files get the server's time")),
        ForeignOption("-Z --parallel-immediate", .always("transfers run side by side")),
        ForeignOption("-J --remote-header-name --content-disposition", .always("the server names the file")),
        ForeignOption("-c --continue --auto-file-renaming", .always("interrupted transfers always continue")),
        ForeignOption(
            "-C --continue-at =#",
            .words("interrupted transfers always continue; transfer copies no part of a file from a given byte")),
        ForeignOption("-C --continue-at =", .always("interrupted transfers always continue")),
        ForeignOption("--create-dirs --force-directories", .always("folders are made")),
        ForeignOption("-N --timestamping --check-integrity", .always("what is complete is not fetched again")),
        ForeignOption("--retry-connrefused", .always("such failures are tried again")),
        ForeignOption("--remove-on-error", .always("a destination is never a partial file")),
        ForeignOption("-# --progress-bar --show-progress", .always("a terminal shows the progress")),
    ]

    private static let requests = [
        ForeignOption("-A --user-agent =", .option("--user-agent")),
        ForeignOption(
            "-U =", .words("-A names the agent; a proxy's user is --proxy-user with --proxy-password")),
        ForeignOption("-e --referer =", .option("--referer")),
        ForeignOption("-b --cookie --load-cookies =", .option("--cookie")),
        ForeignOption("-X --request =", .option("--method")),
        ForeignOption("--oauth2-bearer =", .words("-H takes its value by name: -H 'Authorization: $TOKEN'")),
        ForeignOption("-u --http-user --ftp-user =", .option("--user")),
        ForeignOption("--http-passwd --http-password --ftp-passwd --ftp-password =", .option("--password")),
        ForeignOption("-n --netrc-optional", .option("--netrc")),
        ForeignOption("--netrc-path =", .option("--netrc-file")),
        ForeignOption("-d --data --data-raw --data-binary --data-ascii --post-data --body-data =", .option("--data")),
        ForeignOption("--data-urlencode =", .words("--data sends its text as it is: write it encoded")),
        ForeignOption("--post-file --body-file =", .words("--data @FILE sends what a file holds")),
        ForeignOption("-F --form =", .words("`transfer put FILE URL --protocol multipart` sends a form with a file")),
        ForeignOption("-T =s", .option("--timeout")),
        ForeignOption("-T --upload-file =", .words("`transfer put FILE URL` uploads")),
        ForeignOption(
            "-I --head --spider", .words("-n shows the plan (--dry-run); no option only asks a server")),
        ForeignOption("-r --range =#", .words("files are fetched whole")),
        ForeignOption("--http-accept-gzip", .option("--compressed")),
        ForeignOption(
            "--compression =", .words("--compressed has a file compressed on its way, and stores it decoded")),
        // The commands `get` and `run` have this option.
        ForeignOption("--compressed", .words("files are sent as they are")),
        ForeignOption(
            "-c --cookie-jar --save-cookies -D --dump-header =",
            .words("cookies of answers are not kept; -b FILE sends those of a file")),
    ]

    private static let limits = [
        ForeignOption(
            "--max-concurrent-downloads --parallel-max --transfers --max-threads =", .option("--concurrency")),
        ForeignOption("--checkers =", .option("--per-host")),
        ForeignOption("--max-connection-per-server --split --multi-thread-streams =#", .option("--segments")),
        ForeignOption(
            "--max-overall-download-limit --max-download-limit --max-overall-upload-limit --bwlimit =",
            .option("--limit-rate")),
        ForeignOption(
            "-t --tries --max-tries =", .tries("--retry")),
        ForeignOption("--retry --retries --low-level-retries =", .option("--retry")),
        ForeignOption(
            "--retry-delay --waitretry --retry-wait --retries-sleep =",
            .option("--retry-delay")),
        ForeignOption("--retry-max-time =", .key(#""retry": {"maxWait": "10m"}"#)),
        ForeignOption("--connect-timeout --contimeout =", .option("--connect-timeout")),
        ForeignOption("--timeout --read-timeout =", .option("--timeout")),
        ForeignOption("-m --max-time =#", .option("--max-time")),
        ForeignOption(
            "-Y --speed-limit --lowest-speed-limit -y --speed-time =",
            .key(#""lowSpeed": {"rate": "10K", "time": "30s"}"#)),
        ForeignOption("--max-redirs --max-redirect =", .key(#""maxRedirects": 5"#)),
        ForeignOption(
            "--limit-size --max-filesize -Q --quota --max-transfer =", .words("nothing bounds the size of a file")),
        ForeignOption("-w --wait --random-wait --tpslimit =#", .key(#""limits": {"requestRate": "1/s"}"#)),
        ForeignOption(
            "-s -x =#", .words("--segments N is how many connections one file gets; without it as many as pay")),
        ForeignOption(
            "-k --min-split-size --multi-thread-cutoff =#",
            .words("pieces need no smallest size: a file is divided where that pays (--segments)")),
    ]

    private static let places = [
        ForeignOption("-O --output-document --out =", .option("--output")),
        ForeignOption(
            "-O --remote-name --remote-name-all",
            .words("each file gets its URL's name; -o FILE names one, -d DIR its folder")),
        ForeignOption("-P --directory-prefix --output-dir --dir =", .option("--directory")),
        ForeignOption("-i --input-file --files-from =", .option("--input-file")),
        ForeignOption("-K =", .list("curl")),
        ForeignOption(
            "--config --conf-path =", .words("`transfer run FILE` takes job files, and curl's with --format curl")),
        ForeignOption("--checksum-file --hash =", .option("--checksum")),
        ForeignOption("--allow-overwrite --overwrite", .same(["--if-exists", "overwrite"])),
        ForeignOption("-nc --ignore-existing", .same(["--if-exists", "skip"])),
        ForeignOption(
            "--no-clobber",
            .words(
                "--if-exists skip keeps a file that is there, as wget does; --if-exists rename gives the new one a number, "
                    + "as curl does")),
        ForeignOption("-u --update", .same(["--if-exists", "update"])),
        ForeignOption(
            "-o --output-file --log-file -a --append-output -l --log =",
            .words("2> FILE keeps the messages, --report FILE the end of each job")),
        ForeignOption("--stderr =", .words("2> FILE keeps the messages")),
        ForeignOption("--dry-run", .words("`transfer run --dry-run` checks a job file")),
        ForeignOption("-s --silent --no-verbose -nv --no-progress-meter", .option("--quiet")),
        ForeignOption(
            "--trace --trace-ascii -w --write-out --summary-interval --stats =",
            .words("--json reports what happens, an event a line")),
    ]

    private static let connections = [
        ForeignOption(
            "-x --proxy --preproxy --all-proxy --http-proxy --https-proxy --socks5 --socks5-hostname =",
            .option("--proxy")),
        ForeignOption("--noproxy =", .option("--noproxy")),
        ForeignOption("--no-proxy", .same(["--noproxy", "*"])),
        ForeignOption("--proxy-user =", .option("--proxy-user")),
        ForeignOption("--proxy-password --proxy-passwd =", .option("--proxy-password")),
        ForeignOption("--cacert --ca-certificate --ca-cert =", .option("--cacert")),
        ForeignOption("--capath --ca-directory =", .words("--cacert FILE names the authorities, in one PEM file")),
        ForeignOption("-E --cert --certificate --client-cert =", .option("--cert")),
        ForeignOption("--key --private-key --client-key =", .option("--key")),
        ForeignOption("--pinnedpubkey =", .option("--pinnedpubkey")),
        ForeignOption(
            "-k --insecure --no-check-certificate", .option("--insecure")),
        ForeignOption(
            "--check-certificate =",
            .words("certificates are checked; --cacert FILE trusts others, --insecure any")),
        ForeignOption("--interface --bind-address --bind =", .option("--interface")),
        ForeignOption(
            "-4 --ipv4 --inet4-only -6 --ipv6 --inet6-only --disable-ipv6",
            .words("the machine's routes choose between IPv4 and IPv6")),
        ForeignOption(
            "-0 --http1.0 --http2 --http2-prior-knowledge --http3",
            .words("the server and the machine agree on the version of HTTP; --http1.1 keeps to that")),
        ForeignOption(
            "--resolve --connect-to --dns-servers --async-dns-server =",
            .words("names are resolved as the machine does it (/etc/hosts)")),
        ForeignOption("-1 --tlsv1 --tlsv1.2 --tlsv1.3", .words("TLS 1.2 and 1.3 are spoken")),
        ForeignOption(
            "--ciphers --tls-max --secure-protocol --min-tls-version =",
            .words("TLS 1.2 and 1.3 are spoken, with OpenSSL's ciphers")),
        ForeignOption("--ssl-reqd --ftp-ssl-control", .option("--require-tls")),
        ForeignOption("--hostpubsha256 =", .option("--host-key")),
        ForeignOption("--ftp-create-dirs", .option("--create-folders")),
    ]

    private static let elsewhere = [
        ForeignOption("-p --page-requisites --mirror -m -E --adjust-extension --convert-links", sites),
        ForeignOption("-r --recursive -np --no-parent -nH --no-host-directories -H --span-hosts", sites),
        ForeignOption("-l --level -D --domains --accept --reject -R --cut-dirs =", sites),
        ForeignOption(
            "-T --torrent-file -M --metalink-file --bt-tracker --seed-time --seed-ratio =",
            .words("torrents are not fetched")),
        ForeignOption(
            "-b -D --daemon", .words("`nohup`, or systemd's units in the manual, run it in the background")
        ),
        ForeignOption("-q --quiet", .option("--quiet")),
        ForeignOption("-N --next --parallel", .words("`transfer run` takes jobs of different kinds from one file")),
        ForeignOption(
            "--enable-rpc --rpc-listen-port --rpc-secret =",
            .words("`transfer status`, pause, resume and cancel steer a queue")),
        ForeignOption(
            "--save-session --save-session-interval --session =",
            .words("the queue is always durable; --state names its folder")),
        ForeignOption(
            "--file-allocation --disk-cache --use-mmap --buffer-size =",
            .words("files are allocated and written as suits the disk")),
    ]
    private static let sites = ForeignOption.Answer.words(
        "web sites are not copied; `transfer get` takes the URLs of files")
}
