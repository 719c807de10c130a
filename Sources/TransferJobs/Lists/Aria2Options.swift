import TransferCore

/// The table of the options that aria2's input file may have (its manual, 1.36 and 1.37), with their meanings here. The
/// options `out`, `dir`, `checksum` and `header` are read together with their URL.
package enum Aria2Options {
    package static func meaning(of name: String) -> ListMeaning? { byName[name] }

    package static let names = byName.keys.sorted()

    private static let byName: [String: ListMeaning] = {
        var table: [String: ListMeaning] = [
            "user-agent": .header("User-Agent"), "referer": .own(Aria2Meanings.referer),
            "all-proxy": .own(Aria2Meanings.proxy(for: nil)), "http-proxy": .own(Aria2Meanings.proxy(for: "http")),
            "https-proxy": .own(Aria2Meanings.proxy(for: "https")), "ftp-proxy": .own(Aria2Meanings.proxy(for: "ftp")),
            "no-proxy": .text("noProxy"), "http-user": .secret(ListWays.login), "http-passwd": .secret(ListWays.login),
            "ftp-user": .secret(ListWays.login), "ftp-passwd": .secret(ListWays.login),
            "load-cookies": .text("cookies"), "no-netrc": .own(Aria2Meanings.netrc),
            "netrc-path": .text("auth.netrc"),
            "max-tries": .own(Aria2Meanings.tries), "retry-wait": .own(CurlMeanings.delay),
            "split": .own(Aria2Meanings.connections), "max-connection-per-server": .own(Aria2Meanings.connections),
            "max-download-limit": .amount("limitRate"), "lowest-speed-limit": .amount("lowSpeed.rate"),
            "timeout": .amount("timeout"), "connect-timeout": .amount("connectTimeout"),
            "remote-time": .own(Aria2Meanings.choice("remoteTime")),
            "ca-certificate": .text("tls.ca"), "certificate": .text("tls.cert"), "private-key": .text("tls.key"),
            "check-certificate": .own(Aria2Meanings.trust), "interface": .own(CurlMeanings.link),
            "allow-overwrite": .own(Aria2Meanings.when("true", ifExists: "overwrite")),
            "conditional-get": .own(Aria2Meanings.when("true", ifExists: "update")),
            "http-no-cache": .own(Aria2Meanings.noCache), "ftp-pasv": .own(Aria2Meanings.passive),
            "ftp-type": .only("binary", "bytes are moved as they are"),
            "http-accept-gzip": .flag("compressed"),
            "pause": .only("false", "no job of a list begins paused: take the entry out"),
            "dry-run": .only("false", "-n shows the plan of the whole list; take this line out"),
            "hash-check-only": .only("false", "`transfer verify FILE` checks a file; take this entry out"),
            "parameterized-uri": .only("false", "a URL is not a pattern here: write each of the URLs"),
        ]
        for kind in ["all", "http", "https", "ftp"] {
            table["\(kind)-proxy-user"] = .secret(ListWays.proxyLogin)
            table["\(kind)-proxy-passwd"] = .secret(ListWays.proxyLogin)
        }
        for name in harmless { table[name] = .harmless }
        for name in leftOut { table[name] = .leftOut }
        return table
    }()

    private static let harmless = words(
        """
        continue always-resume auto-file-renaming min-split-size piece-length check-integrity async-dns
        enable-http-keep-alive enable-http-pipelining enable-mmap file-allocation follow-metalink force-save
        http-auth-challenge content-disposition-default-utf8 ftp-reuse-connection
        max-mmap-limit no-file-allocation-limit realtime-chunk-checksum remove-control-file reuse-uri
        rpc-save-upload-metadata save-not-found stream-piece-selector uri-selector use-head allow-piece-length-change
        follow-torrent pause-metadata
        """)

    private static let leftOut = words(
        """
        gid max-upload-limit max-file-not-found max-resume-failure-tries proxy-method ssh-host-key-md index-out
        select-file seed-ratio seed-time enable-peer-exchange
        bt-enable-hook-after-hash-check bt-enable-lpd bt-exclude-tracker bt-external-ip bt-force-encryption
        bt-hash-check-seed bt-load-saved-metadata bt-max-peers bt-metadata-only bt-min-crypto-level
        bt-prioritize-piece bt-remove-unselected-file bt-request-peer-speed-limit bt-require-crypto bt-save-metadata
        bt-seed-unverified bt-stop-timeout bt-tracker bt-tracker-connect-timeout bt-tracker-interval
        bt-tracker-timeout metalink-base-uri metalink-enable-unique-protocol metalink-language metalink-location
        metalink-os metalink-preferred-protocol metalink-version
        """)

    private static func words(_ text: String) -> [String] {
        text.split { $0 == " " || $0 == "\n" }.map(String.init)
    }
}
