import TransferQueue

/// An option of wget, with its meaning on a command line.
struct WgetOption: Sendable {
    var name: String
    /// One letter, or two for options such as `-nc`.
    var letter: String?
    var takesValue: Bool
    var meaning: Meaning

    enum Meaning: Sendable {
        /// An option that only changes how wget talks, or states a default.
        case talk
        /// An option that means a key of the job file.
        case common(ListMeaning)
        /// An option with a rule in ``WgetFront``.
        case own
        /// An option that cannot be taken; the text gives the reason.
        case refused(String, canBeLeftOut: Bool)
    }

    static let byName = Dictionary(WgetOptions.all.map { ($0.name, $0) }) { first, _ in first }
}

/// The meaning of each option of wget (its manual, 1.21), the one table of this tool.
enum WgetOptions {
    static let all = own + talk + common + refused

    private static let own =
        options(
            "no-clobber:nc,no-verbose:nv,quiet:q,verbose:v,continue:c,timestamping:N,content-disposition,no-netrc,"
                + "use-server-timestamps,trust-server-names,cache,proxy,no-http-keep-alive,retry-on-host-error,"
                + "auth-no-challenge,force-directories:x,no-directories:nd,no-host-directories:nH,"
                + "protocol-directories,spider,inet4-only:4,inet6-only:6",
            takesValue: false, .own)
        + options(
            "output-document:O,directory-prefix:P,input-file:i,base:B,execute:e,user,password,http-user,http-password,"
                + "http-passwd,ftp-user,ftp-password,proxy-user,proxy-password,header,post-data,post-file,body-data,"
                + "body-file,method,tries:t,timeout:T,limit-rate,secure-protocol,compression,restrict-file-names,"
                + "proxy-passwd,load-cookies,cut-dirs,retry-on-http-error",
            takesValue: true, .own)

    private static let talk =
        options(
            "debug:d,show-progress,server-response:S,no-parent:np,https-only,"
                + "retry-connrefused,no-hsts,dns-cache,iri,glob,passive-ftp,"
                + "no-config,if-modified-since,unlink,cookies",
            takesValue: false, .talk)
        + options(
            "progress,report-speed,dns-timeout,local-encoding,remote-encoding,preferred-location,"
                + "dot-style",
            takesValue: true, .talk)

    private static let common: [WgetOption] = [
        value("user-agent:U", .header("User-Agent")), value("referer", .own(CurlMeanings.referer)),
        value("waitretry", .own(CurlMeanings.delay)),
        value("connect-timeout", .amount("connectTimeout")), value("read-timeout", .amount("timeout")),
        value("max-redirect", .own(CurlMeanings.redirects)), value("ca-certificate", .text("tls.ca")),
        value("certificate", .own(CurlMeanings.certificate)), value("private-key", .text("tls.key")),
        value("pinnedpubkey", .own(CurlMeanings.pins)),
        value("certificate-type", .only("PEM", "the file is PEM, DER or PKCS#12 as its bytes say")),
        value("private-key-type", .only("PEM", "the file is PEM or DER as its bytes say")),
        flag("no-check-certificate", .flag("tls.insecure")),
        flag("no-passive-ftp", .own(CurlMeanings.active)),
    ]

    private static let sites = "web sites are not copied; name the URLs of files, or a list of them with -i"
    private static let log = "2> FILE keeps the messages"
    private static let answers = "an answer besides the file is not stored"

    private static let refused =
        options(
            "recursive:r,mirror:m,page-requisites:p,convert-links:k,convert-file-only,span-hosts:H,relative:L,"
                + "backup-converted:K,strict-comments,follow-ftp,delete-after,adjust-extension:E,remove-listing",
            takesValue: false, .refused(sites, canBeLeftOut: false))
        + options(
            "level:l,accept:A,reject:R,accept-regex,reject-regex,regex-type,domains:D,exclude-domains,follow-tags,"
                + "ignore-tags,include-directories:I,exclude-directories:X,default-page,rejected-log",
            takesValue: true, .refused(sites, canBeLeftOut: false))
        + options("output-file:o,append-output:a", takesValue: true, .refused(log, canBeLeftOut: true))
        + options(
            "background:b", takesValue: false,
            .refused("`nohup`, or systemd's units in the manual, run it in the background", canBeLeftOut: true))
        + options(
            "force-html:F", takesValue: false, .refused("a page is not searched for links", canBeLeftOut: false))
        + options(
            "prefer-family", takesValue: true,
            .refused("the machine's routes choose between IPv4 and IPv6", canBeLeftOut: true))
        + options(
            "wait:w", takesValue: true,
            .refused("a job file has it: \"limits\": {\"requestRate\": \"1/s\"}", canBeLeftOut: true))
        + options(
            "random-wait", takesValue: false,
            .refused("a job file has it: \"limits\": {\"requestRate\": \"1/s\"}", canBeLeftOut: true))
        + options(
            "quota:Q", takesValue: true, .refused("nothing bounds the size of a file", canBeLeftOut: true))
        + options(
            "save-cookies", takesValue: true,
            .refused("cookies of answers are not kept; --load-cookies sends those of a file", canBeLeftOut: true))
        + options(
            "keep-session-cookies,save-headers,content-on-error,xattr,warc-cdx",
            takesValue: false, .refused(answers, canBeLeftOut: true))
        + options(
            "ignore-length", takesValue: false,
            .refused("a file must have the length that its server declares", canBeLeftOut: true))
        + options(
            "bind-address,ciphers,crl-file,ca-directory,egd-file,random-file,hsts-file,start-pos,"
                + "config,warc-file,warc-header,use-askpass,bind-dns-address,dns-servers,input-metalink,metalink-index,"
                + "backups",
            takesValue: true,
            .refused("it has no equivalent, and without it the request could be another", canBeLeftOut: true))
        + options(
            "ask-password", takesValue: false,
            .refused("--user NAME asks for the password where there is none", canBeLeftOut: true))
        + options(
            "help:h,version:V", takesValue: false,
            .refused("`transfer wget --help` and `transfer --version` stand alone", canBeLeftOut: false))

    private static func options(_ list: String, takesValue: Bool, _ meaning: WgetOption.Meaning) -> [WgetOption] {
        list.split(separator: ",").map { option($0, takesValue: takesValue, meaning) }
    }

    private static func value(_ names: String, _ meaning: ListMeaning) -> WgetOption {
        option(names[...], takesValue: true, .common(meaning))
    }

    private static func flag(_ names: String, _ meaning: ListMeaning) -> WgetOption {
        option(names[...], takesValue: false, .common(meaning))
    }

    /// Creates an option from `name` or `name:letter`.
    private static func option(
        _ names: Substring, takesValue: Bool, _ meaning: WgetOption.Meaning
    ) -> WgetOption {
        let parts = names.split(separator: ":")
        return WgetOption(
            name: String(parts[0]), letter: parts.count > 1 ? String(parts[1]) : nil, takesValue: takesValue,
            meaning: meaning)
    }
}
