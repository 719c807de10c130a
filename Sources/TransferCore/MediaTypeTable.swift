/// The media types of file name extensions: IANA's registrations where they exist, and otherwise the common names.
enum MediaTypeTable {
    /// The lines of the table, each with a type followed by its extensions.
    static let lines = """
        application/atom+xml atom
        application/avro avro
        application/bson bson
        application/cbor cbor
        application/dash+xml mpd
        application/dicom dcm
        application/epub+zip epub
        application/fits fits fts
        application/geo+json geojson
        application/gml+xml gml
        application/gpx+xml gpx
        application/graphql graphql
        application/gzip gz tgz
        application/java-archive ear jar war
        application/java-vm class
        application/json har json map topojson
        application/json5 json5
        application/jsonl jsonl
        application/ld+json jsonld
        application/manifest+json webmanifest
        application/mathml+xml mathml mml
        application/mbox mbox
        application/metalink+xml metalink
        application/metalink4+xml meta4
        application/msword doc dot
        application/mxf mxf
        application/n-quads nq
        application/n-triples nt
        application/ogg ogx
        application/onenote one onetoc
        application/oxps oxps
        application/pdf pdf
        application/pgp-encrypted gpg pgp
        application/pgp-keys asc
        application/pgp-signature sig
        application/pkcs10 csr p10
        application/pkcs12 p12 pfx
        application/pkcs7-mime p7c p7m
        application/pkcs7-signature p7s
        application/pkcs8 p8
        application/pkix-cert cer
        application/pkix-crl crl
        application/postscript ai eps ps
        application/rdf+xml rdf
        application/relax-ng-compact-syntax rnc
        application/rss+xml rss
        application/rtf rtf
        application/sql sql
        application/toml toml
        application/ttml+xml ttml
        application/vnd.adobe.flash.movie swf
        application/vnd.amazon.ebook azw
        application/vnd.amazon.mobi8-ebook azw3
        application/vnd.android.package-archive apk
        application/vnd.ant.fit fit
        application/vnd.apache.arrow.file arrow feather
        application/vnd.apache.parquet parquet
        application/vnd.appimage appimage
        application/vnd.apple.installer+xml pkg
        application/vnd.apple.keynote key
        application/vnd.apple.mpegurl m3u8
        application/vnd.apple.numbers numbers
        application/vnd.apple.pages pages
        application/vnd.apple.pkpass pkpass
        application/vnd.comicbook+zip cbz
        application/vnd.comicbook-rar cbr
        application/vnd.dbf dbf
        application/vnd.debian.binary-package deb
        application/vnd.flatpak flatpak
        application/vnd.garmin.tcx+xml tcx
        application/vnd.google-earth.kml+xml kml
        application/vnd.google-earth.kmz kmz
        application/vnd.las las
        application/vnd.microsoft.portable-executable dll exe
        application/vnd.mozilla.xul+xml xul
        application/vnd.ms-cab-compressed cab
        application/vnd.ms-excel xls xlt
        application/vnd.ms-excel.sheet.binary.macroEnabled.12 xlsb
        application/vnd.ms-excel.sheet.macroEnabled.12 xlsm
        application/vnd.ms-fontobject eot
        application/vnd.ms-outlook msg
        application/vnd.ms-powerpoint pot pps ppt
        application/vnd.ms-powerpoint.presentation.macroEnabled.12 pptm
        application/vnd.ms-project mpp
        application/vnd.ms-publisher pub
        application/vnd.ms-visio.drawing.main+xml vsdx
        application/vnd.ms-word.document.macroEnabled.12 docm
        application/vnd.ms-word.template.macroEnabled.12 dotm
        application/vnd.ms-xpsdocument xps
        application/vnd.msgpack msgpack
        application/vnd.oasis.opendocument.base odb
        application/vnd.oasis.opendocument.chart odc
        application/vnd.oasis.opendocument.formula odf
        application/vnd.oasis.opendocument.graphics odg
        application/vnd.oasis.opendocument.graphics-template otg
        application/vnd.oasis.opendocument.image odi
        application/vnd.oasis.opendocument.presentation odp
        application/vnd.oasis.opendocument.presentation-template otp
        application/vnd.oasis.opendocument.spreadsheet ods
        application/vnd.oasis.opendocument.spreadsheet-template ots
        application/vnd.oasis.opendocument.text odt
        application/vnd.oasis.opendocument.text-template ott
        application/vnd.openstreetmap.data+pbf pbf
        application/vnd.openstreetmap.data+xml osm
        application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
        application/vnd.openxmlformats-officedocument.presentationml.slideshow ppsx
        application/vnd.openxmlformats-officedocument.presentationml.template potx
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
        application/vnd.openxmlformats-officedocument.spreadsheetml.template xltx
        application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
        application/vnd.openxmlformats-officedocument.wordprocessingml.template dotx
        application/vnd.rar rar
        application/vnd.shp shp
        application/vnd.shx shx
        application/vnd.snap snap
        application/vnd.sqlite3 db mbtiles sqlite sqlite3
        application/vnd.visio vsd
        application/vnd.wordperfect wpd
        application/wacz wacz
        application/warc warc
        application/wasm wasm
        application/wsdl+xml wsdl
        application/x-7z-compressed 7z
        application/x-apple-aspen-config mobileconfig
        application/x-apple-diskimage dmg
        application/x-apple-mobileprovision mobileprovision
        application/x-archive a ar
        application/x-bat bat
        application/x-bittorrent torrent
        application/x-blender blend
        application/x-brotli br
        application/x-bzip2 bz2 tbz
        application/x-chrome-extension crx
        application/x-compress z
        application/x-cpio cpio
        application/x-csh csh
        application/x-fictionbook+xml fb2
        application/x-font-afm afm
        application/x-font-bdf bdf
        application/x-font-pcf pcf
        application/x-font-type1 pfa pfb pfm
        application/x-hdf5 h5 hdf5
        application/x-httpd-php php
        application/x-ipynb+json ipynb
        application/x-iso9660-image iso
        application/x-java-jnlp-file jnlp
        application/x-keepass2 kdbx
        application/x-lz4 lz4
        application/x-lzip lz
        application/x-lzma lzma
        application/x-matlab-data mat
        application/x-mobipocket-ebook mobi
        application/x-msaccess mdb
        application/x-msi msi
        application/x-ndjson ndjson
        application/x-netcdf cdf nc
        application/x-nzb nzb
        application/x-object o
        application/x-orc orc
        application/x-pem-file pem
        application/x-pkcs7-certificates p7b spc
        application/x-plist plist
        application/x-qemu-disk qcow2
        application/x-rpm rpm
        application/x-sh bash sh zsh
        application/x-sharedlib dylib so
        application/x-subrip srt
        application/x-tar tar
        application/x-tex cls ltx sty tex
        application/x-vhd-disk vhd
        application/x-virtualbox-vdi vdi
        application/x-vmdk-disk vmdk
        application/x-webarchive webarchive
        application/x-x509-ca-cert crt der
        application/x-xpinstall xpi
        application/x-xz txz xz
        application/xaml+xml xaml
        application/xhtml+xml xhtml
        application/xliff+xml xlf xliff
        application/xml rng xml xsd
        application/xml-dtd dtd
        application/xslt+xml xsl xslt
        application/xspf+xml xspf
        application/yaml yaml yml
        application/zip zip zipx
        application/zstd zst
        audio/aac aac
        audio/ac3 ac3
        audio/aiff aif aifc aiff
        audio/amr amr
        audio/amr-wb awb
        audio/basic au snd
        audio/flac flac
        audio/matroska mka
        audio/midi kar mid midi
        audio/mp4 alac m4a m4b m4p
        audio/mpeg mp2 mp3 mpga
        audio/mpegurl m3u
        audio/ogg oga ogg opus spx
        audio/s3m s3m
        audio/vnd.dts dts
        audio/vnd.dts.hd dtshd
        audio/vnd.rn-realaudio ra ram
        audio/wav wav wave
        audio/webm weba
        audio/x-ape ape
        audio/x-caf caf
        audio/x-it it
        audio/x-mod mod
        audio/x-ms-wma wma
        audio/x-scpls pls
        audio/x-wavpack wv
        audio/xm xm
        chemical/x-cif cif
        chemical/x-cml cml
        chemical/x-mdl-molfile mol
        chemical/x-mdl-sdfile sdf
        chemical/x-pdb pdb
        chemical/x-xyz xyz
        font/collection ttc
        font/otf otf
        font/ttf ttf
        font/woff woff
        font/woff2 woff2
        image/apng apng
        image/avif avif
        image/bmp bmp dib
        image/emf emf
        image/gif gif
        image/heic heic
        image/heic-sequence heics
        image/heif heif
        image/heif-sequence heifs
        image/jp2 j2k jp2 jpg2
        image/jpeg jfif jpe jpeg jpg
        image/jpm jpm
        image/jpx jpx
        image/jxl jxl
        image/ktx ktx
        image/ktx2 ktx2
        image/png png
        image/svg+xml svg svgz
        image/tiff tif tiff
        image/vnd-ms.dds dds
        image/vnd.adobe.photoshop psd
        image/vnd.djvu djv djvu
        image/vnd.dwg dwg
        image/vnd.dxf dxf
        image/vnd.microsoft.icon cur ico
        image/vnd.radiance hdr
        image/vnd.wap.wbmp wbmp
        image/vnd.zbrush.pcx pcx
        image/webp webp
        image/wmf wmf
        image/x-3ds 3ds
        image/x-adobe-dng dng
        image/x-canon-cr2 cr2
        image/x-canon-crw crw
        image/x-cmu-raster ras
        image/x-exr exr
        image/x-fuji-raf raf
        image/x-nikon-nef nef
        image/x-olympus-orf orf
        image/x-panasonic-rw2 rw2
        image/x-pentax-pef pef
        image/x-portable-anymap pnm
        image/x-portable-arbitrarymap pam
        image/x-portable-bitmap pbm
        image/x-portable-graymap pgm
        image/x-portable-pixmap ppm
        image/x-samsung-srw srw
        image/x-sony-arw arw
        image/x-tga tga
        image/x-xbitmap xbm
        image/x-xcf xcf
        image/x-xpixmap xpm
        message/rfc822 eml
        model/3mf 3mf
        model/gltf+json gltf
        model/gltf-binary glb
        model/iges iges igs
        model/obj obj
        model/step step stp
        model/stl stl
        model/vnd.collada+xml dae
        model/vnd.dwf dwf
        model/vnd.ply ply
        model/vnd.usda usda
        model/vnd.usdz+zip usdz
        model/vrml vrml wrl
        model/x3d+xml x3d x3dz
        text/cache-manifest appcache manifest
        text/calendar ics
        text/css css
        text/csv csv
        text/html htm html
        text/javascript js mjs
        text/jsx jsx
        text/markdown markdown md
        text/n3 n3
        text/plain cfg conf ini log prj strings sub text txt
        text/tab-separated-values tsv
        text/turtle ttl
        text/vcard vcard vcf
        text/vtt vtt
        text/x-bibtex bib
        text/x-c c h
        text/x-c++ cc cpp cxx hh hpp
        text/x-coffeescript coffee
        text/x-csharp cs
        text/x-dart dart
        text/x-diff diff patch
        text/x-fasta fa fasta
        text/x-fortran f f90
        text/x-gettext-translation po
        text/x-go go
        text/x-java java
        text/x-kotlin kt kts
        text/x-less less
        text/x-lua lua
        text/x-objective-c m
        text/x-objective-c++ mm
        text/x-opml opml
        text/x-perl pl pm
        text/x-powershell ps1
        text/x-protobuf proto
        text/x-python py
        text/x-r r
        text/x-ruby rb
        text/x-rust rs
        text/x-sass sass
        text/x-scala scala
        text/x-scss scss
        text/x-swift swift
        text/x-typescript tsx
        text/x-vue vue
        video/3gpp 3gp 3gpp
        video/3gpp2 3g2 3gpp2
        video/dvd vob
        video/h264 h264
        video/h265 h265
        video/matroska mkv
        video/matroska-3d mk3d
        video/mj2 mj2
        video/mp2t m2ts mts ts
        video/mp4 mp4 mp4v
        video/mpeg m1v m2v mpe mpeg mpg
        video/ogg ogv
        video/quicktime mov qt
        video/webm webm
        video/x-f4v f4v
        video/x-flv flv
        video/x-m4v m4v
        video/x-ms-asf asf asx
        video/x-ms-wmv wmv
        video/x-msvideo avi
        """
}
