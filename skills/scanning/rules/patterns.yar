/* Attacks that need no grammar to be seen, in any language and in binaries. `id` in the meta data
   names the entry of catalogue.yaml; `severity`, where given, is another weight than there. */

rule bash_reverse_shell { meta: id = "code.reverse-shell"
  strings:
    $a = /bash\s+-i\s{0,20}>&?\s{0,20}\/dev\/(tcp|udp)\// nocase
    $b = /\/dev\/(tcp|udp)\/[0-9a-z$\{][^\s]{2,60}\/[0-9$\{]/ nocase
    $c = /mkfifo\s[^\n]{1,80}\bnc\s/ nocase
    $d = /\bn(et)?c(at)?\s[^\n|]{0,60}-[a-z]{0,5}e\s{1,5}\/bin\/(ba|z|da|k)?sh/ nocase
    $e = /socat\s[^\n]{0,120}exec:/ nocase
  condition: any of them }

rule powershell_download_run { meta: id = "code.other-language"
  strings:
    $a = /(iex|invoke-expression)[^\n]{0,120}(downloadstring|downloadfile|invoke-webrequest|invoke-restmethod|\biwr\b|\birm\b|webclient)/ nocase
    $b = /(downloadstring|invoke-webrequest|invoke-restmethod|\biwr\b|\birm\b)[^\n]{0,160}\|\s{0,10}(iex|invoke-expression)/ nocase
    $c = /powershell(\.exe)?\s[^\n]{0,80}-e(nc|ncodedcommand|c)?\s{1,5}[a-z0-9+\/=]{20,}/ nocase
    $d = /frombase64string[^\n]{0,160}(iex|invoke-expression|reflection\.assembly)/ nocase
    $e = /(iex|invoke-expression)[^\n]{0,160}frombase64string/ nocase
    $f = /mshta(\.exe)?\s{1,5}(https?:|javascript:|vbscript:)/ nocase
    $g = /regsvr32[^\n]{0,40}\/i:https?:/ nocase
    $h = /certutil[^\n]{0,40}-(urlcache|decode)[^\n]{0,120}/ nocase
  condition: any of them }

rule perl_ruby_php_run { meta: id = "code.other-language"
  strings:
    $a = /perl\s+-M?[^\n]{0,60}(IO::Socket|Socket;)[^\n]{0,200}(exec|system)/ nocase
    $b = /ruby\s+-rsocket\s/ nocase
    $c = /php\s+-r\s[^\n]{0,80}fsockopen/ nocase
    $d = /(eval|assert|system|shell_exec|passthru|exec)\s{0,5}\(\s{0,5}(base64_decode|gzinflate|str_rot13|\$_(GET|POST|REQUEST|COOKIE))/ nocase
    $e = /(eval|instance_eval|class_eval|system|exec)[\s(]{1,5}(Base64\.(strict_)?decode64|(URI|Net::HTTP|open-uri)[^\n]{0,80}\.(open|get|read))/
    $f = /(eval|system|exec)[\s(]{1,5}(decode_base64|get\(['"]https?:|LWP::Simple)/
    $g = /do\s+shell\s+script\s{0,5}"[^"\n]{0,200}(curl|wget)[^"\n]{0,200}\|\s{0,5}(ba|z)?sh/ nocase
    $h = /IO\.popen\(["'][^"'\n]{0,120}(curl|wget)[^"'\n]{0,200}\|/ nocase
  condition: any of them }

rule printed_and_run { meta: id = "code.decode-run"
  strings:
    $a = /printf\s{1,3}["']?(\\\\?x?|%b["']?\s["']?\\\\?x?)\$\{?\w{1,20}\}?["']?[^\n]{0,80}\|\s{0,3}(ba|z|da)?sh\b/
    $b = /(eval|sh -c)\s[^\n]{0,80}printf\s{1,3}["']?\\\\?x?\$\w/
  condition: any of them }

rule module_of_fetched_text { meta: id = "code.download-run"
  strings:
    $fetch = /\b(fetch|axios|got|https?\.get)\s{0,3}[(.]/
    $data = /\bimport\s{0,3}\(\s{0,9}["'`]data:(text|application)\/javascript/
    $blob = /(new\s(Shared)?Worker|\bimport)\s{0,3}\(\s{0,9}URL\.createObjectURL/
  condition: $fetch and any of ($data, $blob) }

rule coin_miner { meta: id = "code.miner"
  strings:
    $a = /stratum\+(tcp|ssl):\/\// nocase
    $b = "xmrig" nocase
    $c = "cryptonight" nocase
    $d = "coinhive" nocase
    $e = /--donate-level[= ]/ nocase
  condition: any of ($a, $e) or 2 of them }

rule password_dialog { meta: id = "code.secret-read"
  strings: $a = /display dialog[^\n]{0,300}hidden answer/ nocase
  condition: $a }

rule eicar { meta: id = "code.test-virus"
  strings: $a = "EICAR-STANDARD-ANTIVIRUS-TEST-FILE"
  condition: $a }

rule fork_bomb { meta: id = "code.destructive"
  strings:
    $a = /:\s?\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}\s?;\s?:/
    $b = /\brm\s+-[a-z]{0,4}(rf|fr)[a-z]{0,4}\s+(--no-preserve-root\s+)?(\/|~|\$HOME|\/\*)\s{0,3}(\n|;|&|$)/ nocase
  condition: any of them }

rule cookie_theft { meta: id = "code.secret-sent"
  strings:
    $a = /document\.cookie[^\n]{0,200}(fetch|XMLHttpRequest|\.src\s{0,5}=|sendBeacon|https?:\/\/)/ nocase
    $b = /(fetch|\.src\s{0,5}=|sendBeacon)[^\n]{0,200}document\.cookie/ nocase
  condition: any of them }

rule claude_settings_bypass { meta: id = "agent.unsafe-switch"
  strings:
    $a = "--dangerously-skip-permissions" nocase
    $b = "--dangerously-bypass-approvals-and-sandbox" nocase
    $c = /"defaultMode"\s{0,5}:\s{0,5}"bypassPermissions"/ nocase
    $d = /"enableAllProjectMcpServers"\s{0,5}:\s{0,5}true/ nocase
    $e = "chat.tools.autoApprove" nocase
  condition: any of them }

rule drop_site { meta: id = "code.drop-site"
  strings:
    $a = /webhook\.site\/[0-9a-z-]{6,}/ nocase
    $b = /[a-z0-9-]{3,60}\.(m\.pipedream\.net|requestcatcher\.com|oast\.(fun|pro|live|site|online|me)|interact\.sh|burpcollaborator\.net|oastify\.com|dnslog\.cn|ceye\.io|beeceptor\.com)/ nocase
    $c = /discord(app)?\.com\/api\/webhooks\/[0-9]{5,}/ nocase
    $d = /api\.telegram\.org\/bot[0-9]{5,}/ nocase
    $e = /https?:\/\/(www\.)?(transfer\.sh|0x0\.st|termbin\.com|file\.io|paste\.rs|anonfiles\.com)\b/ nocase
    $f = /pastebin\.com\/(raw|api)\b/ nocase
    $g = /https?:\/\/[a-z0-9-]{4,60}\.(ngrok(-free)?\.(io|app|dev)|trycloudflare\.com|loca\.lt|serveo\.net)/ nocase
  condition: any of them }

rule environment_sent { meta: id = "code.secret-and-network"
  strings:
    $go = "os.Environ()"
    $rb = /ENV\.(to_h|to_a|each|inspect|map)/
    $php = /\$_(ENV|SERVER)\b|getenv\(\)/
    $java = "System.getenv()"
    $rust = /env::vars(_os)?\(\)/
    $cs = "GetEnvironmentVariables("
    $net1 = /http\.(Post|Get|NewRequest|PostForm|Do)\(|net\.Dial/
    $net2 = /Net::HTTP|URI\.open|RestClient|Faraday|HTTParty|TCPSocket/
    $net3 = /curl_exec|file_get_contents\(['"]https?:|fsockopen|stream_socket_client/
    $net4 = /HttpClient|HttpURLConnection|WebClient|OkHttpClient|new Socket\(/
    $net5 = /reqwest::|ureq::|TcpStream::connect/
  condition: any of ($go, $rb, $php, $java, $rust, $cs) and any of ($net*) }

rule windows_script_run { meta: id = "code.other-language"
  strings:
    $a = /WScript\.Shell[^\x00]{0,400}\.(Run|Exec)\b[^\n]{0,200}(curl|powershell|certutil|bitsadmin|http)/ nocase
    $b = /MSXML2\.XMLHTTP[^\x00]{0,600}(SaveToFile|Execute|Eval)/ nocase
    $c = /bitsadmin\s[^\n]{0,40}\/transfer\s[^\n]{0,200}https?:/ nocase
    $d = /cmd(\.exe)?\s{1,5}\/c\s[^\n]{0,80}(curl|certutil|powershell)[^\n]{0,200}(&|\|)/ nocase
  condition: any of them }

rule yaml_objects { meta: id = "container.pickle"
  strings:
    $a = /!!python\/(object|module|name)/
    $b = /!ruby\/(object|hash|struct|regexp)/
    $c = "!!javax.script.ScriptEngineManager"
  condition: any of them }

rule bare_ip_download { meta: id = "code.download-run"
  strings:
    $a = /(curl|wget)\s[^\n|]{0,120}https?:\/\/[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}[^\n|]{0,120}\|\s{0,10}(sudo\s{1,5})?(ba|z|da|k)?sh\b/ nocase
  condition: $a }
