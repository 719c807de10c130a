import TransferQueue

/// The options of aria2c that only its command line has, and the spelling of all (its manual, 1.36).
/// ``Aria2Options`` has the meanings of those that its lists have, too.
enum Aria2FrontOptions {
    /// The letters, with the long names.
    static let letters: [String: String] = [
        "dir": "d", "out": "o", "input-file": "i", "log": "l", "max-concurrent-downloads": "j",
        "check-integrity": "V", "continue": "c", "help": "h", "max-connection-per-server": "x", "max-tries": "m",
        "min-split-size": "k", "split": "s", "timeout": "t", "parameterized-uri": "P", "force-sequential": "Z",
        "user-agent": "U", "no-netrc": "n", "remote-time": "R", "quiet": "q", "metalink-file": "M",
        "torrent-file": "T", "show-files": "S", "max-upload-limit": "u", "daemon": "D", "version": "v",
        "index-out": "O", "file-allocation": "a", "ftp-pasv": "p",
    ]

    /// The choices: without a value they are switched on.
    static let choices = names(
        """
        check-integrity continue force-sequential parameterized-uri no-netrc remote-time quiet show-files daemon
        ftp-pasv allow-overwrite auto-file-renaming conditional-get dry-run enable-http-keep-alive
        enable-http-pipelining http-accept-gzip http-auth-challenge http-no-cache always-resume async-dns
        check-certificate content-disposition-default-utf8 use-head reuse-uri enable-mmap hash-check-only
        realtime-chunk-checksum remove-control-file force-save save-not-found pause follow-metalink follow-torrent
        ftp-reuse-connection allow-piece-length-change enable-color human-readable show-console-readout
        truncate-console-readout optimize-concurrent-downloads deferred-input disable-ipv6 enable-async-dns6
        enable-rpc rpc-allow-origin-all rpc-listen-all rpc-save-upload-metadata rpc-secure no-conf enable-dht
        enable-dht6 enable-peer-exchange bt-enable-lpd bt-force-encryption bt-hash-check-seed bt-load-saved-metadata
        bt-metadata-only bt-remove-unselected-file bt-require-crypto bt-save-metadata bt-seed-unverified
        bt-enable-hook-after-hash-check bt-detach-seed-only metalink-enable-unique-protocol pause-metadata
        keep-unfinished-download-result save-cookies help stderr
        """)

    /// The options that only change how aria2 talks, or stores its own notes, or concern torrents, which are no
    /// part of these lines.
    static let talk = names(
        """
        console-log-level summary-interval download-result enable-color human-readable show-console-readout
        truncate-console-readout stderr disk-cache deferred-input auto-save-interval log-level no-conf
        optimize-concurrent-downloads keep-unfinished-download-result max-download-result event-poll
        min-tls-version server-stat-of server-stat-if server-stat-timeout socket-recv-buffer-size
        startup-idle-time rlimit-nofile enable-dht enable-dht6 dht-file-path dht-listen-port listen-port
        dht-entry-point bt-detach-seed-only peer-id-prefix peer-agent max-overall-upload-limit
        rpc-listen-port rpc-listen-all rpc-allow-origin-all rpc-secure
        """)

    /// The options that a command line cannot have, with the reason, and whether the rest means the same without
    /// them.
    static let refused: [String: (reason: String, canBeLeftOut: Bool)] = [
        "torrent-file": ("torrents are not fetched", false),
        "show-files": ("torrents are not fetched", false),
        "metalink-file": ("a Metalink is named itself: transfer get FILE.meta4", false),
        "enable-rpc": ("`transfer serve` is steered over aria2's JSON-RPC", false),
        "rpc-secret": ("`transfer serve` is steered over aria2's JSON-RPC", false),
        "daemon": ("`nohup`, or systemd's units in the manual, run it in the background", true),
        "log": ("2> FILE keeps the messages", true),
        "save-session": ("the queue is durable: the same command continues", true),
        "save-session-interval": ("the queue is durable: the same command continues", true),
        "conf-path": ("aria2's configuration is not read; transfer-config(5) has this command's", true),
        "save-cookies": ("cookies of answers are not kept; --load-cookies sends those of a file", true),
        "disable-ipv6": ("the machine's routes choose between IPv4 and IPv6", true),
        "multiple-interface": ("one link is named: --interface", true),
        "async-dns-server": ("names are resolved as the machine does it", true),
        "stop": ("`timeout` ends the command; the same command continues", true),
        "stop-with-process": ("`timeout` ends the command; the same command continues", true),
        "on-download-complete": ("a hook is called by transfer get --on-finish", false),
        "on-download-error": ("a hook is called by transfer get --on-finish", false),
        "on-download-start": ("hooks are called at the end: transfer get --on-finish", false),
        "on-download-stop": ("a hook is called by transfer get --on-finish", false),
        "dry-run": ("transfer get -n shows the plan, and asks no server", false),
        "help": ("`transfer aria2c --help` stands alone", false),
        "version": ("`transfer --version` stands alone", false),
    ]

    /// Whether an option of torrents or Metalinks has no effect on the transfer of a URL.
    static func concernsNoURL(_ name: String) -> Bool {
        ["bt-", "metalink-", "seed-", "dht-"].contains(where: name.hasPrefix)
            || ["select-file", "index-out", "enable-peer-exchange", "max-upload-limit"].contains(name)
    }

    static let syntax: FrontSyntax = {
        var syntax = FrontSyntax(joinsByEquals: true)
        let own = ["out", "dir", "checksum", "header", "input-file", "max-concurrent-downloads"]
        let more = ["quiet", "force-sequential", "max-overall-download-limit", "version"]
        for name in Set(Aria2Options.names + own + more).union(talk).union(refused.keys) {
            let value: FrontSyntax.Value = choices.contains(name) ? .optional : name == "version" ? .none : .required
            syntax.add(name, letter: letters[name], value)
        }
        return syntax
    }()

    private static func names(_ text: String) -> Set<String> {
        Set(text.split { $0 == " " || $0 == "\n" }.map(String.init))
    }
}
