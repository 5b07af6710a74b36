from django.db import migrations

import workspaces.sentences


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0004_api_tokens")]

    operations = [
        migrations.AlterField(
            model_name="modelconnection",
            name="check_sentence",
            field=workspaces.sentences.SentenceField(blank=True),
        ),
    ]
